/**
 * How soon after a pane's death its event comes, over 200 deaths of each kind, on a user's server and on one of ours.
 * `DEATHS` sets another number. Other work on the machine shows in these figures, so its load is printed beside them.
 */
import { loadavg } from "node:os";
import { describe, expect, test } from "vitest";
import { DEATHS, type DeathName, deaths, serverDeaths, type DyingServer } from "../support/tmux/paneDeaths.ts";
import { withDyingServer } from "../support/tmux/dyingServer.ts";
import { report, spread } from "../support/daemon/loadReport.ts";

const COUNT = Number(process.env["DEATHS"] ?? 200);
/** A dashboard's card has to change within this, pushed. */
const TOLD_WITHIN_MS = 50;

async function measured(
  kind: "guest" | "owned",
  name: string,
  run: (scene: DyingServer) => Promise<readonly number[]>,
): Promise<ReturnType<typeof spread>> {
  const told = spread(await withDyingServer(kind, run));
  report("paneDeath", { server: kind, death: name, count: COUNT, ...told, load: loadavg()[0]?.toFixed(2) });
  return told;
}

describe.each(["guest", "owned"] as const)("%s", (kind) => {
  test.each(Object.keys(DEATHS) as DeathName[])("%s", async (name) => {
    const { p99Ms } = await measured(kind, name, (scene) => deaths(scene, name, COUNT));
    expect(p99Ms).toBeLessThan(TOLD_WITHIN_MS);
  });

  test.each(["kill-server", "SIGKILL"] as const)("the whole server, by %s", async (how) => {
    const { p99Ms } = await measured(kind, `server: ${how}`, (scene) => serverDeaths(scene, how, COUNT));
    expect(p99Ms).toBeLessThan(TOLD_WITHIN_MS);
  });
});
