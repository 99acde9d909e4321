import { expect, test } from "vitest";
import { TurnBudget } from "../../../../daemon/time/turnBudget.ts";
import { FakeClock } from "../../../support/clock/fakeClock.ts";

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A task of pieces that each take a millisecond of the fake clock. */
const task = (clock: FakeClock, pieces: number, log: string[], name: string) => ({
  run: (hasTimeLeft: () => boolean): boolean => {
    do {
      log.push(name);
      clock.advanceMs(1);
      pieces--;
    } while (pieces > 0 && hasTimeLeft());
    return pieces === 0;
  },
});

test("work begins behind what this turn does, and within it", async () => {
  const clock = new FakeClock();
  const budget = new TurnBudget({ clock });
  const log: string[] = [];
  budget.add(task(clock, 1, log, "work"));
  log.push("fan-out");
  await Promise.resolve();
  expect(log).toEqual(["fan-out", "work"]);
  expect(budget.backlog).toBe(0);
});

test("past the budget the rest waits for the next turns of the loop, and tasks take turns", async () => {
  const clock = new FakeClock();
  const turns: number[] = [];
  const budget = new TurnBudget({ clock, budgetMs: 2, onTurn: (ms) => turns.push(ms) });
  const log: string[] = [];
  budget.add(task(clock, 5, log, "a"));
  budget.add(task(clock, 1, log, "b"));
  await Promise.resolve();
  expect(log).toEqual(["a", "a"]);
  expect(budget.backlog).toBe(2);
  // What is added meanwhile does not bring a turn of its own.
  budget.add(task(clock, 1, log, "c"));
  await Promise.resolve();
  expect(log).toHaveLength(2);
  await nextTurn();
  expect(log).toEqual(["a", "a", "b", "a"]);
  await nextTurn();
  await nextTurn();
  expect(log).toEqual(["a", "a", "b", "a", "c", "a", "a"]);
  for (const ms of turns) expect(ms).toBeLessThanOrEqual(3);
});

test("a task that throws is dropped and the others run", async () => {
  const clock = new FakeClock();
  const errors: unknown[] = [];
  const budget = new TurnBudget({ clock, onError: (error) => errors.push(error) });
  const log: string[] = [];
  budget.add({
    run: () => {
      throw new Error("mine");
    },
  });
  const removed = task(clock, 1, log, "removed");
  budget.add(removed);
  budget.add(task(clock, 1, log, "kept"));
  budget.remove(removed);
  await Promise.resolve();
  expect(log).toEqual(["kept"]);
  expect(errors).toHaveLength(1);
});
