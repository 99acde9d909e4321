/**
 * A create that comes again is the same create: a page that lost its connection does not know whether its terminal was
 * made. By device and requestId, for ten minutes; one that failed is forgotten and may be tried again.
 */
import type { Clock } from "../../../daemon/time/clock.ts";
import { CREATES_KEPT_MS, MAX_CREATES_KEPT } from "../freshellLimits.ts";
import type { Terminal } from "../terminals/terminal.ts";

interface Remembered {
  readonly terminal: Promise<Terminal>;
  readonly atMs: number;
}

export class CreateMemory {
  readonly #clock: Clock;
  readonly #creates = new Map<string, Remembered>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The terminal that was made for this request, or is being made. */
  find(owner: string, requestId: string): Promise<Terminal> | undefined {
    const key = keyOf(owner, requestId);
    const known = this.#creates.get(key);
    if (known === undefined) return undefined;
    if (this.#clock.nowMs() - known.atMs <= CREATES_KEPT_MS) return known.terminal;
    this.#creates.delete(key);
    return undefined;
  }

  remember(owner: string, requestId: string, terminal: Promise<Terminal>): void {
    const key = keyOf(owner, requestId);
    this.#creates.set(key, { terminal, atMs: this.#clock.nowMs() });
    terminal.catch(() => this.#creates.delete(key));
    for (const oldest of this.#creates.keys()) {
      if (this.#creates.size <= MAX_CREATES_KEPT) break;
      this.#creates.delete(oldest);
    }
  }
}

const keyOf = (owner: string, requestId: string): string => JSON.stringify([owner, requestId]);
