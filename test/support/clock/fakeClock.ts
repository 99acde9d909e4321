import type { Clock, Timer } from "../../../daemon/time/clock.ts";

/** A clock moved by hand. `advanceMs` fires due timers in deadline order, each at its own time. */
export class FakeClock implements Clock {
  #nowMs = 0;
  #timers: { readonly deadlineMs: number; readonly order: number; readonly run: () => void }[] = [];
  #order = 0;

  nowMs(): number {
    return this.#nowMs;
  }

  get pendingTimers(): number {
    return this.#timers.length;
  }

  callAt(deadlineMs: number, run: () => void): Timer {
    const timer = { deadlineMs, order: this.#order++, run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  advanceMs(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const due = this.#timers
        .filter((timer) => timer.deadlineMs <= untilMs)
        .sort((a, b) => a.deadlineMs - b.deadlineMs || a.order - b.order)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#nowMs = Math.max(this.#nowMs, due.deadlineMs);
      due.run();
    }
    this.#nowMs = untilMs;
  }
}
