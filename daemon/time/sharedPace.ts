/**
 * How often each of many may do something that costs: a few as they like, hundreds in turns, so that all of them together
 * stay within their share of a core. Who has done it within the last second counts.
 */
import type { Clock } from "./clock.ts";

const BUSY_MS = 1_000;

export class SharedPace {
  readonly #clock: Clock;
  readonly #eachMs: number;
  #doing = new Set<object>();
  #busy = 0;
  #countedMs: number;

  /** @param eachMs for one of them */
  constructor(clock: Clock, eachMs: number) {
    this.#clock = clock;
    this.#eachMs = eachMs;
    this.#countedMs = clock.nowMs();
  }

  /** The least time from one to the next by the same one. */
  get everyMs(): number {
    return this.#busy * this.#eachMs;
  }

  did(by: object): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#countedMs + BUSY_MS) {
      this.#busy = nowMs >= this.#countedMs + 2 * BUSY_MS ? 0 : this.#doing.size;
      this.#doing = new Set();
      this.#countedMs = nowMs;
    }
    this.#doing.add(by);
  }
}
