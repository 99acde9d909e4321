/** Long random walks of another client over sessions, windows and panes. */
import { expect, test } from "vitest";
import { drift } from "../support/tmux/inventoryScenario.ts";
import { ownedFixture } from "../support/tmux/ownedFixture.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";

const seeds = Array.from({ length: Number(process.env["DRIFT_SEEDS"] ?? 20) }, (_unused, index) => 100 + index);

test.each(seeds)("200 operations, seed %i", async (seed) => {
  // Many beats: none of them may find a fault in what others do.
  await using fixture = await ownedFixture({ heartbeatMs: 100 });
  const startMs = performance.now();
  const slowestMs = await drift(fixture.server, fixture.socket, seed, 200);
  report("inventory.drift", { seed, operations: 200, slowestMs: Math.round(slowestMs), ms: sinceMs(startMs) });
  expect(fixture.log).toEqual([]);
});
