/**
 * A few control clients start at a time, in the order in which they were asked for: two hundred at once would keep each
 * other, and the user's server, from answering in time.
 */
export class AttachTurns {
  readonly #most: number;
  #taken = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number) {
    this.#most = most;
  }

  /** Does `work` when it is its turn. Rejects with the signal's reason, and without having done it, when that is first. */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#taken < this.#most) this.#taken += 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const [next] = this.#waiting;
      if (next === undefined) this.#taken -= 1;
      else next();
    }
  }

  /** Resolves once another's turn has become ours. */
  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: () => void): void => {
        this.#waiting.delete(begin);
        signal.removeEventListener("abort", leave);
        outcome();
      };
      const begin = (): void => settle(resolve);
      const leave = (): void => settle(() => reject(signal.reason as Error));
      this.#waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
}
