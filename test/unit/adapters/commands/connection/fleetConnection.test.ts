/** Which pane a word names over NATS, without a daemon. */
import { expect, test } from "vitest";
import { paneInFleet } from "../../../../../adapters/commands/connection/fleetConnection.ts";
import type { CommandCall } from "../../../../../adapters/cli/commandTypes.ts";
import type { FleetClient, FleetServer } from "../../../../../adapters/fleet/fleetClient.ts";

const server = (host: string): FleetServer => ({
  host,
  server: "main",
  tree: {
    sessions: [{ id: "$1", name: "work", activeWindow: "@1", windows: [{ index: 0, window: "@1" }] }],
    windows: [{ id: "@1", activePane: "%7" }],
    panes: [],
  } as unknown as FleetServer["tree"],
  readiness: {},
  agents: [
    { id: "a1", name: "api", pane: "%8", state: "busy" },
    { id: "a0", name: "gone", pane: "%9", state: "ended" },
    { id: "a2", name: "work", pane: "%10", state: "idle" },
  ] as unknown as FleetServer["agents"],
  toldUnixMs: 0,
  ended: false,
});

const named = (word: string | undefined, { host, hosts = ["box"] }: { host?: string; hosts?: string[] } = {}) => {
  const text = (name: string): string | undefined => (name === "host" ? host : undefined);
  const call = { options: { text }, io: { env: {} } } as unknown as CommandCall;
  return paneInFleet({ servers: async () => hosts.map(server) } as unknown as FleetClient, call, word);
};

test.each([
  ["%5", "%5"],
  ["work", "%7"],
  ["$1", "%7"],
  ["api", "%8"],
  ["a1", "%8"],
])("%s is %s", async (word, pane) => {
  expect(await named(word)).toEqual({ host: "box", server: "main", pane });
});

test.each([
  ["nobody", {}, "NOT_FOUND"],
  ["gone", {}, "NOT_FOUND"],
  ["work", { hosts: ["a", "b"] }, "AMBIGUOUS_TARGET"],
  ["work", { host: "c" }, "NOT_FOUND"],
  [undefined, {}, "INVALID_ARGUMENT"],
])("%s of %o is %s", async (word, options, code) => {
  await expect(named(word, options)).rejects.toMatchObject({ code });
});

test("of several hosts the one that is named", async () => {
  expect(await named("api", { host: "b", hosts: ["a", "b"] })).toEqual({ host: "b", server: "main", pane: "%8" });
});
