/**
 * How often panes publish. A message costs a daemon half a millisecond whatever its size, so that hundreds of busy panes wait
 * longer, for larger ones, and all to the same moments: their messages are written together. A pane that was silent
 * publishes as soon as those who follow it here have been served.
 */
import { alignedDeadline } from "../../daemon/time/alignedDeadline.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { SharedPace } from "../../daemon/time/sharedPace.ts";

/** So many milliseconds for each busy pane's message: all of them take a third of a core. */
const MESSAGE_MS = 1.5;

export class PublishPace {
  readonly #clock: Clock;
  readonly #coalesceMs: number;
  readonly #shared: SharedPace;

  constructor(clock: Clock, coalesceMs: number) {
    this.#clock = clock;
    this.#coalesceMs = coalesceMs;
    this.#shared = new SharedPace(clock, MESSAGE_MS);
  }

  /** When a pane that published at `sentMs` may publish again, if it has little to say. */
  dueMs(sentMs: number): number {
    const windowMs = Math.max(this.#coalesceMs, this.#shared.everyMs);
    const nowMs = this.#clock.nowMs();
    return nowMs >= sentMs + windowMs ? nowMs : alignedDeadline(sentMs + 1, windowMs);
  }

  /** Counts a publisher's message. */
  published(by: object): void {
    this.#shared.did(by);
  }
}
