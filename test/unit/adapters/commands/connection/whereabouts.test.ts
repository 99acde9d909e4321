import { expect, test } from "vitest";
import { hereIn } from "../../../../../adapters/commands/connection/clientConnection.ts";
import type { NativeServer } from "../../../../../adapters/client/client.ts";

const listed = [{ name: "mine", socketPath: "/s/mine" }] as unknown as readonly NativeServer[];
const at = (TMUX: string | undefined, TMUX_PANE?: string) =>
  hereIn({ env: { TMUX, TMUX_PANE, TMUX_TMPDIR: "/t" }, ownSocketPath: "/s/own", uid: 7, list: async () => listed });

test.each([
  [undefined, "%1", undefined],
  ["/s/own,12,0", "%1", { server: "main", pane: "%1" }],
  ["/s/mine,12,0", "%2", { server: "mine", pane: "%2" }],
  ["/t/tmux-7/default,12,0", "%3", { server: "default", pane: "%3" }],
  ["/t/tmux-7/other,12,0", "%3", undefined],
  ["/s/own,12,0", "nonsense", { server: "main", pane: undefined }],
  ["nonsense", "%1", undefined],
  ["/s/a,b,12,0", "%1", undefined],
])("TMUX=%s", async (tmux, pane, here) => {
  expect(await at(tmux, pane)).toEqual(here);
});
