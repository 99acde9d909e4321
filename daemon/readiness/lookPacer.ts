/**
 * When a screen that changes is worth a look: once its output has settled, and every `FLOW_MS` while it flows. Without
 * output there is no look and no timer; one look is under way at a time.
 */
import type { Clock, Timer } from "../time/clock.ts";

/** A change of state shows within 100 ms even under a flood: this, a capture, and some room. */
const FLOW_MS = 60;

interface LookPacerOptions {
  readonly clock: Clock;
  /** Looks; never rejects. */
  readonly look: () => Promise<void>;
  readonly settleMs: number;
}

export class LookPacer {
  readonly #options: LookPacerOptions;
  #timer: Timer | undefined;
  /** When the last look began. */
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Output since the last look began. */
  #firstMs: number | undefined;
  #lastMs = 0;
  #isLooking = false;
  /** Another one was asked for meanwhile. */
  #isWanted = false;
  /** Whoever needs a look that begins after they asked. */
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(options: LookPacerOptions) {
    this.#options = options;
  }

  /** There was output. */
  output(atMs: number): void {
    this.#firstMs ??= atMs;
    this.#lastMs = atMs;
    if (this.#timer === undefined && !this.#isLooking) this.#arm(atMs);
  }

  /** Looks now, or as soon as the look under way is over; resolves after it. */
  now(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isLooking) void this.#look();
    });
  }

  /** Looks now, or a settling time after the last look: whoever asks on every byte gets no more than that. */
  soon(): void {
    const { clock, settleMs } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#isClosed) return;
    if (this.#isLooking) {
      this.#isWanted = true;
      return;
    }
    if (nowMs - this.#beganMs >= settleMs) {
      void this.#look();
      return;
    }
    this.#firstMs = Math.min(this.#firstMs ?? Infinity, this.#beganMs + settleMs - FLOW_MS);
    this.#timer?.cancel();
    this.#arm(nowMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#settle(this.#waiting);
  }

  #arm(nowMs: number): void {
    if (this.#firstMs === undefined || this.#isClosed) return;
    const dueMs = Math.min(this.#lastMs + this.#options.settleMs, this.#firstMs + FLOW_MS);
    this.#timer = this.#options.clock.callAt(Math.max(nowMs, dueMs), () => this.#due());
  }

  #due(): void {
    this.#timer = undefined;
    if (this.#firstMs === undefined) return;
    const nowMs = this.#options.clock.nowMs();
    const dueMs = Math.min(this.#lastMs + this.#options.settleMs, this.#firstMs + FLOW_MS);
    if (dueMs > nowMs) this.#arm(nowMs);
    else void this.#look();
  }

  async #look(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#firstMs = undefined;
    this.#isWanted = false;
    this.#beganMs = this.#options.clock.nowMs();
    this.#isLooking = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#options.look();
    this.#isLooking = false;
    this.#settle(waiting);
    if (this.#isClosed) return;
    if (this.#waiting.length > 0) void this.#look();
    else if (this.#isWanted) this.soon();
    else if (this.#timer === undefined) this.#arm(this.#options.clock.nowMs());
  }

  #settle(waiting: (() => void)[]): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
}
