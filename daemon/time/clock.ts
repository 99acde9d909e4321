/** Time as a parameter: the one place that calls `performance.now` and `setTimeout`. */

export interface Timer {
  /** Safe to call twice and after the timer has fired. */
  cancel(): void;
}

export interface Clock {
  /** Monotonic milliseconds; only differences mean something. */
  nowMs(): number;
  /** Runs once at or after `deadlineMs` of this clock, never before the current turn has ended. */
  callAt(deadlineMs: number, run: () => void): Timer;
}

/** What a part takes that tells how much time has passed, and what time it is. */
export interface Timed {
  readonly clock: Clock;
  /** Unix time in milliseconds. */
  readonly nowUnixMs: () => number;
}

/** setTimeout's longest delay; a later deadline is reached in steps. */
const MAX_DELAY_MS = 2_147_483_647;

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  callAt(deadlineMs, run) {
    let handle: ReturnType<typeof setTimeout>;
    const arm = (): void => {
      const leftMs = Math.max(0, Math.ceil(deadlineMs - performance.now()));
      handle = leftMs > MAX_DELAY_MS ? setTimeout(arm, MAX_DELAY_MS) : setTimeout(run, leftMs);
    };
    arm();
    return { cancel: () => clearTimeout(handle) };
  },
};
