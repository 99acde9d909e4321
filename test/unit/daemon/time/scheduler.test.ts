import { expect, test } from "vitest";
import { Scheduler } from "../../../../daemon/time/scheduler.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

test("an earlier entry moves the timer forward; an entry that throws stops no other", () => {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const scheduler = new Scheduler({ clock, onError: (error) => errors.push(error) });
  const fired: string[] = [];
  scheduler.at(100, () => fired.push("late"));
  scheduler.at(10, () => {
    throw new Error("mine");
  });
  scheduler.at(10, () => fired.push("early"));
  clock.advanceMs(10);
  expect(fired).toEqual(["early"]);
  expect(errors).toHaveLength(1);
  clock.advanceMs(90);
  expect(fired).toEqual(["early", "late"]);
});

test("an entry may add and cancel others while it runs", () => {
  const clock = new FakeClock();
  const scheduler = new Scheduler({ clock });
  const fired: string[] = [];
  const doomed = scheduler.at(5, () => fired.push("doomed"));
  scheduler.at(4, () => {
    doomed.cancel();
    scheduler.at(4, () => fired.push("added"));
  });
  clock.advanceMs(5);
  expect(fired).toEqual(["added"]);
});

test("a turn fires a bounded number; the rest follow in the next one", () => {
  const clock = new FakeClock();
  let fired = 0;
  const turns: number[] = [];
  const counting = {
    nowMs: () => clock.nowMs(),
    callAt: (deadlineMs: number, run: () => void) =>
      clock.callAt(deadlineMs, () => {
        run();
        turns.push(fired);
      }),
  };
  const scheduler = new Scheduler({ clock: counting, maxPerTurn: 2 });
  for (let index = 0; index < 5; index++) scheduler.at(1, () => fired++);
  clock.advanceMs(1);
  expect(turns).toEqual([2, 4, 5]);
});

test("closed, it runs nothing", () => {
  const clock = new FakeClock();
  const scheduler = new Scheduler({ clock });
  scheduler.at(1, () => expect.unreachable());
  scheduler.close();
  scheduler.close();
  scheduler.at(1, () => expect.unreachable()).cancel();
  clock.advanceMs(10);
  expect(clock.pendingTimers).toBe(0);
});
