/**
 * Keeps every deadline of the process in one binary heap behind one timer of the clock. Timeouts and quiet periods are
 * thousands of entries that mostly never fire, so adding and cancelling are O(log n), nothing runs while nothing is due, and
 * one turn fires a bounded number of entries; the rest follow in the next turn (seed 002 §8.3, timer contract).
 */
import type { Clock, Timer } from "./clock.ts";

interface SchedulerOptions {
  readonly clock: Clock;
  /** Most entries fired in one turn. 512 settled waits take about 1 ms, which the event loop can afford. */
  readonly maxPerTurn?: number | undefined;
  /** Gets an entry's error; no other entry is affected. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const DEFAULT_MAX_PER_TURN = 512;

interface Entry extends Timer {
  readonly deadlineMs: number;
  /** Breaks ties, so that equal deadlines fire in the order in which they were scheduled. */
  readonly order: number;
  readonly run: () => void;
  /** Index in the heap; -1 once it has fired or was cancelled. */
  place: number;
}

const isBefore = (a: Entry, b: Entry): boolean =>
  a.deadlineMs < b.deadlineMs || (a.deadlineMs === b.deadlineMs && a.order < b.order);

export class Scheduler {
  readonly #clock: Clock;
  readonly #maxPerTurn: number;
  readonly #onError: (error: unknown) => void;
  readonly #heap: Entry[] = [];
  #order = 0;
  #timer: Timer | undefined;
  #timerDeadlineMs = Infinity;
  #firing = false;
  #closed = false;

  constructor(options: SchedulerOptions) {
    this.#clock = options.clock;
    this.#maxPerTurn = options.maxPerTurn ?? DEFAULT_MAX_PER_TURN;
    this.#onError = options.onError ?? (() => undefined);
  }

  /** Entries that have neither fired nor been cancelled. */
  get size(): number {
    return this.#heap.length;
  }

  /** Runs once at or after `deadlineMs` of the clock, never within this call. A closed scheduler never runs it. */
  at(deadlineMs: number, run: () => void): Timer {
    const entry: Entry = {
      deadlineMs,
      order: this.#order++,
      run,
      place: -1,
      cancel: () => this.#cancel(entry),
    };
    if (this.#closed) return entry;
    entry.place = this.#heap.length;
    this.#heap.push(entry);
    this.#rise(entry);
    if (!this.#firing && deadlineMs < this.#timerDeadlineMs) this.#arm();
    return entry;
  }

  /** Forgets every entry. Safe to call twice. */
  close(): void {
    this.#closed = true;
    for (const entry of this.#heap) entry.place = -1;
    this.#heap.length = 0;
    this.#disarm();
  }

  #fire(): void {
    this.#timer = undefined;
    this.#timerDeadlineMs = Infinity;
    this.#firing = true;
    const nowMs = this.#clock.nowMs();
    for (let fired = 0; fired < this.#maxPerTurn; fired++) {
      const first = this.#heap[0];
      if (first === undefined || first.deadlineMs > nowMs) break;
      this.#remove(first);
      try {
        first.run();
      } catch (error) {
        this.#onError(error);
      }
    }
    this.#firing = false;
    this.#arm();
  }

  #arm(): void {
    this.#disarm();
    const first = this.#heap[0];
    if (first === undefined) return;
    this.#timerDeadlineMs = first.deadlineMs;
    this.#timer = this.#clock.callAt(first.deadlineMs, () => this.#fire());
  }

  #disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#timerDeadlineMs = Infinity;
  }

  #cancel(entry: Entry): void {
    if (entry.place < 0) return;
    this.#remove(entry);
    // The timer stays armed when the first of many entries is cancelled, because one early wake-up costs less than
    // re-arming each time.
    if (this.#heap.length === 0 && !this.#firing) this.#disarm();
  }

  #remove(entry: Entry): void {
    const last = this.#heap.pop();
    if (last !== undefined && last !== entry) {
      last.place = entry.place;
      this.#heap[last.place] = last;
      this.#rise(last);
      this.#sink(last);
    }
    entry.place = -1;
  }

  #rise(entry: Entry): void {
    while (entry.place > 0) {
      const parent = this.#heap[(entry.place - 1) >> 1];
      if (parent === undefined || !isBefore(entry, parent)) return;
      this.#swap(parent, entry);
    }
  }

  #sink(entry: Entry): void {
    for (;;) {
      const left = this.#heap[2 * entry.place + 1];
      const right = this.#heap[2 * entry.place + 2];
      const child = right !== undefined && left !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, entry)) return;
      this.#swap(entry, child);
    }
  }

  /** Swaps `lower`, the parent, with `upper`, its child. */
  #swap(lower: Entry, upper: Entry): void {
    const place = lower.place;
    lower.place = upper.place;
    upper.place = place;
    this.#heap[lower.place] = lower;
    this.#heap[upper.place] = upper;
  }
}
