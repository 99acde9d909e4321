import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Timer } from "../../daemon/time/clock.ts";
import { Scheduler } from "../../daemon/time/scheduler.ts";
import { FakeClock } from "../support/clock/fakeClock.ts";

interface Entry {
  readonly deadlineMs: number;
  readonly order: number;
}

/** A list sorted when it is asked: what the heap must equal. */
interface Model {
  nowMs: number;
  entries: Entry[];
  readonly fired: number[];
  nextOrder: number;
}

interface Real {
  readonly clock: FakeClock;
  readonly scheduler: Scheduler;
  readonly timers: Map<number, Timer>;
  readonly fired: number[];
}

class Add implements fc.Command<Model, Real> {
  readonly delayMs: number;
  constructor(delayMs: number) {
    this.delayMs = delayMs;
  }
  check = (): boolean => true;
  run(model: Model, real: Real): void {
    const order = model.nextOrder++;
    const deadlineMs = model.nowMs + this.delayMs;
    model.entries.push({ deadlineMs, order });
    real.timers.set(
      order,
      real.scheduler.at(deadlineMs, () => real.fired.push(order)),
    );
    assert.equal(real.scheduler.size, model.entries.length);
  }
  toString = (): string => `add(${this.delayMs})`;
}

class Cancel implements fc.Command<Model, Real> {
  readonly pick: number;
  constructor(pick: number) {
    this.pick = pick;
  }
  check = (model: Readonly<Model>): boolean => model.nextOrder > 0;
  run(model: Model, real: Real): void {
    const order = this.pick % model.nextOrder;
    model.entries = model.entries.filter((entry) => entry.order !== order);
    real.timers.get(order)?.cancel();
    real.timers.get(order)?.cancel();
    assert.equal(real.scheduler.size, model.entries.length);
  }
  toString = (): string => `cancel(${this.pick})`;
}

class Advance implements fc.Command<Model, Real> {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  check = (): boolean => true;
  run(model: Model, real: Real): void {
    model.nowMs += this.ms;
    const due = model.entries.filter((entry) => entry.deadlineMs <= model.nowMs);
    due.sort((a, b) => a.deadlineMs - b.deadlineMs || a.order - b.order);
    model.entries = model.entries.filter((entry) => !due.includes(entry));
    model.fired.push(...due.map((entry) => entry.order));
    real.clock.advanceMs(this.ms);
    assert.deepEqual(real.fired, model.fired);
    // One timer while anything waits, none when nothing does.
    assert.ok(real.clock.pendingTimers <= 1);
    if (model.entries.length === 0) assert.equal(real.clock.pendingTimers, 0);
  }
  toString = (): string => `advance(${this.ms})`;
}

test("the heap behaves as a sorted list, whatever is added, cancelled and waited for", () => {
  const commands = fc.commands(
    [
      fc.nat({ max: 50 }).map((ms) => new Add(ms)),
      fc.nat().map((pick) => new Cancel(pick)),
      fc.nat({ max: 30 }).map((ms) => new Advance(ms)),
    ],
    { size: "+1", maxCommands: 200 },
  );
  fc.assert(
    fc.property(commands, fc.integer({ min: 1, max: 4 }), (run, maxPerTurn) => {
      const clock = new FakeClock();
      const model: Model = { nowMs: 0, entries: [], fired: [], nextOrder: 0 };
      const real: Real = { clock, scheduler: new Scheduler({ clock, maxPerTurn }), timers: new Map(), fired: [] };
      fc.modelRun(() => ({ model, real }), run);
      new Advance(1_000).run(model, real);
      expect(real.fired).toEqual(model.fired);
    }),
    { numRuns: 300 },
  );
});
