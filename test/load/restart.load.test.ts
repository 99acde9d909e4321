/**
 * A daemon that can always be started again. `RESTART_CYCLES` (200), `RESTART_SEED` (1) and `RESTART_SECONDS` (1,500) say
 * how often, at which moments and for how long at most: a hold may be split into several runs.
 */
import { expect, test } from "vitest";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import { report } from "../support/daemon/loadReport.ts";
import { holdRestarts } from "../support/daemon/restartHold.ts";
import { restarts } from "../support/daemon/restartScenario.ts";

test("100 restarts in a flood", async () => {
  await using socket = privateSocket();
  const result = await restarts(socket, 100);
  report("restarts", { ...result });
  expect(result).toMatchObject({ programsLost: 0, operationsFailed: 0, mostHubs: 1, mostHooks: 3 });
});

test.runIf(process.platform === "linux")("ended at any moment, with every adapter on", async () => {
  const cycles = Number(process.env["RESTART_CYCLES"] ?? 200);
  const seed = Number(process.env["RESTART_SEED"] ?? 1);
  const withinSec = Number(process.env["RESTART_SECONDS"] ?? 1_500);
  const result = await holdRestarts(cycles, seed, withinSec);
  report("restart hold", { ...result });
  expect(result).toMatchObject({ slow: [], left: [] });
  expect(result.cycles).toBeGreaterThan(0);
});
