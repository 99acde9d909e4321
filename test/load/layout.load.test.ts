/** Long random walks over windows and panes, by us and by a person at a terminal at once. */
import { expect, test } from "vitest";
import { layoutWalk } from "../support/tmux/layoutScenario.ts";
import { keepsPanes } from "../support/tmux/tmuxWords.ts";
import { report, sinceMs } from "../support/daemon/loadReport.ts";

const steps = Number(process.env["LAYOUT_STEPS"] ?? 500);
const seeds = Array.from({ length: Number(process.env["LAYOUT_SEEDS"] ?? 1) }, (_unused, index) => 1_000 + index);
const walks = seeds.flatMap((seed) => [["owned", seed] as const, ["guest", seed] as const]);

test.each(walks)("half of 1,000 operations by us, half by a person, %s, seed %i", async (kind, seed) => {
  const startMs = performance.now();
  const { log, ...walked } = await layoutWalk(kind, seed, steps);
  report("layout.walk", { kind, seed, operations: 2 * steps, ...walked, ms: sinceMs(startMs) });
  expect(walked.spawned).toBe(0);
  expect(walked.events).toBeGreaterThan(steps);
  if (keepsPanes()) expect([walked.ended, walked.respawned].every((count) => count > steps / 50)).toBe(true);
  expect(log).toEqual([]);
});
