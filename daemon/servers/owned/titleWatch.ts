/**
 * Titles change as often as a program likes. tmux reports a pane's first change and then no more about that pane until we
 * have read its title (`titleHook` of hub.ts); we read at once, and then at most every `MIN_INTERVAL_MS`.
 */
import type { Clock, Timer } from "../../time/clock.ts";

/** A spinner in a title turns ten times a second; nobody needs each turn, and a hundred of them must cost little. */
const MIN_INTERVAL_MS = 50;

interface TitleWatchOptions {
  readonly clock: Clock;
  readonly probe: () => void;
}

export class TitleWatch {
  readonly #options: TitleWatchOptions;
  #probedMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(options: TitleWatchOptions) {
    this.#options = options;
  }

  changed(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    const dueMs = this.#probedMs + MIN_INTERVAL_MS;
    if (dueMs <= clock.nowMs()) this.#probe();
    else this.#timer = clock.callAt(dueMs, () => this.#probe());
  }

  /** Forgets a pending probe: the connection is gone, and the next one lists everything. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #probe(): void {
    this.clear();
    this.#probedMs = this.#options.clock.nowMs();
    this.#options.probe();
  }
}
