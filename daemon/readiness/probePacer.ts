/**
 * When a changing screen is worth a capture: once its output has settled, and every `FLOW_MS` while it flows, less often
 * when many panes do that. Without output there is no capture and no timer; one capture is under way at a time.
 */
import type { Clock, Timer } from "../time/clock.ts";
import type { SharedPace } from "../time/sharedPace.ts";

/** A change of state shows within 100 ms even under a flood: this, a capture, and some room. */
const FLOW_MS = 60;

/** Output that pauses for this long has drawn its frame; one that goes on later is captured again. */
const SETTLE_MS = 16;

export class ProbePacer {
  readonly #clock: Clock;
  readonly #capture: () => Promise<void>;
  /** Of all panes. */
  readonly #pace: SharedPace;
  #timer: Timer | undefined;
  /** When the last capture began. */
  #beganMs = Number.NEGATIVE_INFINITY;
  /** Output since the last capture began. */
  #firstMs: number | undefined;
  #lastMs = 0;
  #isProbing = false;
  /** Another one was asked for meanwhile. */
  #isWanted = false;
  /** Callers that need a capture that begins after their call. */
  readonly #waiting: (() => void)[] = [];
  #isClosed = false;

  /** @param capture captures the screen and judges it; never rejects */
  constructor(clock: Clock, pace: SharedPace, capture: () => Promise<void>) {
    this.#clock = clock;
    this.#pace = pace;
    this.#capture = capture;
  }

  /** There was output. */
  output(atMs: number): void {
    this.#firstMs ??= atMs;
    this.#lastMs = atMs;
    if (this.#timer === undefined && !this.#isProbing) this.#arm(atMs);
  }

  /** Captures now, or as soon as the capture under way is over; resolves after it. */
  now(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#isProbing) void this.#probe();
    });
  }

  /** Captures now, or a settling time after the last capture: a caller that asks on every byte gets no more than that. */
  soon(): void {
    const nowMs = this.#clock.nowMs();
    if (this.#isClosed) return;
    if (this.#isProbing) {
      this.#isWanted = true;
      return;
    }
    if (nowMs - this.#beganMs >= SETTLE_MS) {
      void this.#probe();
      return;
    }
    this.#firstMs = Math.min(this.#firstMs ?? Infinity, this.#beganMs + SETTLE_MS - FLOW_MS);
    this.#timer?.cancel();
    this.#arm(nowMs);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #arm(nowMs: number): void {
    if (this.#firstMs === undefined || this.#isClosed) return;
    const dueMs = this.#dueMs(this.#firstMs);
    this.#timer = this.#clock.callAt(Math.max(nowMs, dueMs), () => this.#due());
  }

  #dueMs(firstMs: number): number {
    return Math.max(Math.min(this.#lastMs + SETTLE_MS, firstMs + FLOW_MS), this.#beganMs + this.#pace.everyMs);
  }

  #due(): void {
    this.#timer = undefined;
    if (this.#firstMs === undefined) return;
    const nowMs = this.#clock.nowMs();
    if (this.#dueMs(this.#firstMs) > nowMs) this.#arm(nowMs);
    else void this.#probe();
  }

  async #probe(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#firstMs = undefined;
    this.#isWanted = false;
    this.#pace.did(this);
    this.#beganMs = this.#clock.nowMs();
    this.#isProbing = true;
    const waiting = this.#waiting.splice(0);
    await this.#capture();
    this.#isProbing = false;
    for (const resolve of waiting) resolve();
    if (this.#isClosed) return;
    if (this.#waiting.length > 0) void this.#probe();
    else if (this.#isWanted) this.soon();
    else if (this.#timer === undefined) this.#arm(this.#clock.nowMs());
  }
}
