/** Those who wait for something that a log or a stream will bring. The test's own time-out ends a vain wait. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** What `find` finds, now or once something has come. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = find();
        if (found === undefined) return;
        this.#waiting.delete(look);
        resolve(found);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Something has come: everybody looks. */
  look(): void {
    for (const look of this.#waiting) look();
  }
}
