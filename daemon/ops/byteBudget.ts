/**
 * Bytes that are held for somebody: bounded for each holder and for all together, and counted before they are held. What
 * large ones may not use lets little ones through.
 */

interface ByteBudgetOptions {
  readonly maxBytes: number;
  readonly maxBytesEach: number;
  /** What one may hold while it is the only one; default `maxBytesEach`. */
  readonly maxBytesAlone?: number | undefined;
  /** Only what is at most `LITTLE_BYTES` may use the last of `maxBytes`; default 0. */
  readonly forLittleBytes?: number | undefined;
}

/** A keystroke, a hook, a question: not text by the page. */
const LITTLE_BYTES = 16_384;

export class ByteBudget {
  readonly #options: ByteBudgetOptions;
  readonly #heldBy = new Map<unknown, number>();
  readonly #waiting = new Set<() => void>();
  #held = 0;

  constructor(options: ByteBudgetOptions) {
    this.#options = options;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** False: there is no room, and nothing was counted. */
  hold(holder: unknown, bytes: number): boolean {
    if (bytes === 0) return true;
    const { maxBytes, maxBytesEach, maxBytesAlone = maxBytesEach, forLittleBytes = 0 } = this.#options;
    const own = (this.#heldBy.get(holder) ?? 0) + bytes;
    const max = bytes <= LITTLE_BYTES ? maxBytes : maxBytes - forLittleBytes;
    const maxOwn = own === this.#held + bytes ? maxBytesAlone : maxBytesEach;
    if (own > maxOwn || this.#held + bytes > max) return false;
    this.#held += bytes;
    this.#heldBy.set(holder, own);
    return true;
  }

  release(holder: unknown, bytes: number): void {
    if (bytes === 0) return;
    const own = (this.#heldBy.get(holder) ?? 0) - bytes;
    this.#held -= bytes;
    if (own > 0) this.#heldBy.set(holder, own);
    else this.#heldBy.delete(holder);
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const tell of waiting) tell();
  }

  /** Calls once, when something is released; returns what withdraws that. */
  onRelease(tell: () => void): () => void {
    this.#waiting.add(tell);
    return () => void this.#waiting.delete(tell);
  }
}
