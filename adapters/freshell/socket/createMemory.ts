/**
 * Creates are idempotent: a page that lost its connection does not know whether its terminal or session was made. By device
 * and requestId, for ten minutes; a failed one is forgotten and can be retried.
 */
import type { Clock } from "../../../daemon/time/clock.ts";
import { CREATES_KEPT_MS, MAX_CREATES_KEPT } from "../freshellLimits.ts";

interface Remembered<Made> {
  readonly made: Promise<Made>;
  readonly atMs: number;
}

export class CreateMemory<Made> {
  readonly #clock: Clock;
  readonly #creates = new Map<string, Remembered<Made>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The result of this request, finished or under way. */
  find(owner: string, requestId: string): Promise<Made> | undefined {
    const key = keyOf(owner, requestId);
    const known = this.#creates.get(key);
    if (known === undefined) return undefined;
    if (this.#clock.nowMs() - known.atMs <= CREATES_KEPT_MS) return known.made;
    this.#creates.delete(key);
    return undefined;
  }

  remember(owner: string, requestId: string, made: Promise<Made>): void {
    const key = keyOf(owner, requestId);
    this.#creates.set(key, { made, atMs: this.#clock.nowMs() });
    made.catch(() => this.#creates.delete(key));
    for (const oldest of this.#creates.keys()) {
      if (this.#creates.size <= MAX_CREATES_KEPT) break;
      this.#creates.delete(oldest);
    }
  }
}

const keyOf = (owner: string, requestId: string): string => JSON.stringify([owner, requestId]);
