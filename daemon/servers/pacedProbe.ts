/** Rate-limits probes after changes: the first one runs at once, further changes within an interval share one. */
import type { Clock, Timer } from "../time/clock.ts";

interface PacedProbeOptions {
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly probe: () => void;
}

export class PacedProbe {
  readonly #options: PacedProbeOptions;
  #probedMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(options: PacedProbeOptions) {
    this.#options = options;
  }

  changed(): void {
    if (this.#timer !== undefined) return;
    const { clock, intervalMs } = this.#options;
    const dueMs = this.#probedMs + intervalMs;
    if (dueMs <= clock.nowMs()) this.#probe();
    else this.#timer = clock.callAt(dueMs, () => this.#probe());
  }

  /** Forgets a pending probe. Safe to call twice. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #probe(): void {
    this.#timer = undefined;
    this.#probedMs = this.#options.clock.nowMs();
    this.#options.probe();
  }
}
