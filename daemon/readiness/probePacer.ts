/**
 * When a changing screen is worth a capture: once its output has settled, and every `FLOW_MS` while it flows. Without
 * output there is no capture and no timer; one capture is under way at a time.
 */
import type { Clock, Timer } from "../time/clock.ts";

/** A change of state shows within 100 ms even under a flood: this, a capture, and some room. */
const FLOW_MS = 60;

interface ProbePacerOptions {
  readonly clock: Clock;
  /** Captures the screen and judges it; never rejects. */
  readonly probe: () => Promise<void>;
  readonly settleMs: number;
}

export class ProbePacer {
  readonly #options: ProbePacerOptions;
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
  #waiting: (() => void)[] = [];
  #isClosed = false;

  constructor(options: ProbePacerOptions) {
    this.#options = options;
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
    const { clock, settleMs } = this.#options;
    const nowMs = clock.nowMs();
    if (this.#isClosed) return;
    if (this.#isProbing) {
      this.#isWanted = true;
      return;
    }
    if (nowMs - this.#beganMs >= settleMs) {
      void this.#probe();
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
    else void this.#probe();
  }

  async #probe(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#firstMs = undefined;
    this.#isWanted = false;
    this.#beganMs = this.#options.clock.nowMs();
    this.#isProbing = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#options.probe();
    this.#isProbing = false;
    this.#settle(waiting);
    if (this.#isClosed) return;
    if (this.#waiting.length > 0) void this.#probe();
    else if (this.#isWanted) this.soon();
    else if (this.#timer === undefined) this.#arm(this.#options.clock.nowMs());
  }

  #settle(waiting: (() => void)[]): void {
    for (const resolve of waiting.splice(0)) resolve();
  }
}
