/** How often panes are captured that print without an end: a few as often as they should be, hundreds in turns. */
import { expect, test } from "vitest";
import { ProbePacer } from "../../../../daemon/readiness/probePacer.ts";
import { SharedPace } from "../../../../daemon/time/sharedPace.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

/** Captures of each pane in the third second. */
async function captured(panes: number): Promise<readonly number[]> {
  const clock = new FakeClock();
  const pace = new SharedPace(clock, 1);
  const counts = Array.from({ length: panes }, () => 0);
  const pacers = counts.map(
    (_, at) =>
      new ProbePacer(clock, pace, async () => {
        if (clock.nowMs() >= 2_000) counts[at]! += 1;
      }),
  );
  for (let ms = 0; ms < 3_000; ms += 5) {
    for (const pacer of pacers) pacer.output(clock.nowMs());
    clock.advanceMs(5);
    // oxlint-disable-next-line no-await-in-loop -- each capture ends before the next moment
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const pacer of pacers) pacer.close();
  return counts;
}

test.each([1, 20])("%i panes are captured every 60 ms", async (panes) => {
  for (const count of await captured(panes)) expect(count).toBeGreaterThanOrEqual(15);
});

test("two hundred are captured in turns, none of them left out", async () => {
  const counts = await captured(200);
  expect(Math.min(...counts)).toBeGreaterThanOrEqual(4);
  expect(Math.max(...counts)).toBeLessThanOrEqual(6);
});
