/** What a server can do is asked of it; the answers are those of real builds of the versions named. */
import { expect, test } from "vitest";
import { featuresOf, introduce } from "../../../daemon/connection/tmuxFeatures.ts";
import { InputQueue } from "../../../daemon/panes/inputJobs.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { fakeConnection, turn } from "../../support/fakeTransport.ts";

const ESCAPES = "[-dprS] [-s separator] [-b buffer-name] [-t target-pane]\n";
const PLAIN = "[-dpr] [-s separator] [-b buffer-name] [-t target-pane]\n";
const usages: readonly (readonly [versions: string, usage: string, pasteNeedsRaw: boolean])[] = [
  ["3.2a to 3.6b", PLAIN, false],
  ["3.7c and next-3.8", ESCAPES, true],
  ["none", "", false],
];

test.each(usages)("whether paste-buffer must be told to leave bytes alone: %s", (_versions, usage, pasteNeedsRaw) => {
  expect(featuresOf(Buffer.from(usage))).toEqual({ pasteNeedsRaw });
});

test.each([
  ["3.3a", PLAIN, "paste-buffer -d -r -p -b b1 -t %7"],
  ["3.7c", ESCAPES, "paste-buffer -d -r -S -p -b b1 -t %7"],
  // A development build's version says nothing of what it can do.
  ["next-3.7", PLAIN, "paste-buffer -d -r -p -b b1 -t %7"],
])("a paste to tmux %s", async (version, usage, expected) => {
  const { connection, transport } = fakeConnection();
  const introduced = introduce(connection);
  transport.reply(`4711 1700000000 ${version} $0 @0 %0\n`);
  transport.reply(usage);
  expect(await introduced).toMatchObject({ version, session: "$0" });
  const pane = "%7" as PaneId;
  const queue = new InputQueue({ pane, connection: () => connection, bufferName: () => "b1" });
  queue.submit([{ kind: "paste", bytes: Buffer.from("a\u001bb") }]).catch(() => undefined);
  await turn();
  expect(transport.lines.at(-1)).toContain(expected);
});
