/**
 * How often panes publish. A message costs a daemon half a millisecond whatever its size, so that hundreds of busy panes wait
 * longer, for larger ones, and all to the same moments: their messages are written together. A pane that was silent
 * publishes at once.
 */
import { alignedDeadline } from "../../daemon/time/alignedDeadline.ts";
import type { Clock } from "../../daemon/time/clock.ts";

/** So many milliseconds for each busy pane's message: all of them take a third of a core. */
const MESSAGE_MS = 1.5;
/** Who has published within this is busy. */
const BUSY_MS = 1_000;

export class PublishPace {
  readonly #clock: Clock;
  readonly #coalesceMs: number;
  #publishers = new Set<object>();
  #busy = 0;
  #countedMs: number;

  constructor(clock: Clock, coalesceMs: number) {
    this.#clock = clock;
    this.#coalesceMs = coalesceMs;
    this.#countedMs = clock.nowMs();
  }

  /** When a pane that published at `sentMs` may publish again, if it has little to say. */
  dueMs(sentMs: number): number {
    const windowMs = Math.max(this.#coalesceMs, this.#busy * MESSAGE_MS);
    const nowMs = this.#clock.nowMs();
    return nowMs >= sentMs + windowMs ? nowMs : alignedDeadline(sentMs + 1, windowMs);
  }

  /** Counts a publisher's message. */
  published(by: object): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs >= this.#countedMs + BUSY_MS) {
      this.#busy = nowMs >= this.#countedMs + 2 * BUSY_MS ? 0 : this.#publishers.size;
      this.#publishers = new Set();
      this.#countedMs = nowMs;
    }
    this.#publishers.add(by);
  }
}
