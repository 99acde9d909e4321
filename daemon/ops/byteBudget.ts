/**
 * Bounds the bytes held, per holder and in total; bytes are counted before they are held. A part is reserved for small
 * amounts, so that they get through beside large ones.
 */

interface ByteBudgetOptions {
  readonly maxBytes: number;
  readonly maxBytesEach: number;
  /** The bound of a holder while it is the only one; default `maxBytesEach`. */
  readonly maxBytesAlone?: number | undefined;
  /** The last part of `maxBytes`, reserved for amounts of at most `LITTLE_BYTES`; default 0. */
  readonly forLittleBytes?: number | undefined;
}

/** Enough for a keystroke, a hook or a query. */
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

  /** Returns false if there is no room; nothing is counted then. */
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

  /** Calls `tell` once, when something is released; returns a function that cancels this. */
  onRelease(tell: () => void): () => void {
    this.#waiting.add(tell);
    return () => void this.#waiting.delete(tell);
  }
}
