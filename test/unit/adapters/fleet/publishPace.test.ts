/** When panes publish: a silent one at once, busy ones together, many of them less often. */
import { expect, test } from "vitest";
import { PublishPace } from "../../../../adapters/fleet/publishPace.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

test("a pane that was silent for the window publishes at once, another one at its end", () => {
  const clock = new FakeClock();
  clock.advanceMs(1_000);
  const pace = new PublishPace(clock, 20);
  expect(pace.dueMs(980)).toBe(1_000);
  expect(pace.dueMs(1_000)).toBe(1_020);
  // Both to the same moment, and neither later than it was asked for.
  expect(pace.dueMs(990)).toBe(1_000);
  expect(pace.dueMs(995)).toBe(1_000);
});

test("without a window everything goes at once", () => {
  const clock = new FakeClock();
  clock.advanceMs(500);
  expect(new PublishPace(clock, 0).dueMs(500)).toBe(500);
});

test("hundreds of busy panes wait longer, and no longer once they are silent", () => {
  const clock = new FakeClock();
  const pace = new PublishPace(clock, 20);
  const panes = Array.from({ length: 200 }, () => ({}));
  for (const pane of panes) pace.published(pane);
  clock.advanceMs(1_000);
  pace.published(panes[0]!);
  expect(pace.dueMs(1_000)).toBe(1_200);
  clock.advanceMs(3_000);
  pace.published(panes[0]!);
  expect(pace.dueMs(4_000)).toBe(4_020);
});
