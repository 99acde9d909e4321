/** Those who wait for something that a log or a stream will bring. The test's own time-out ends a vain wait. */
export class Waiters {
  readonly #waiting = new Set<() => void>();

  /** What `find` finds, now or once something has come. */
  until<T>(find: () => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const probe = (): void => {
        const found = find();
        if (found === undefined) return;
        this.#waiting.delete(probe);
        resolve(found);
      };
      this.#waiting.add(probe);
      probe();
    });
  }

  /** Something has come: everybody probes. */
  probe(): void {
    for (const probe of this.#waiting) probe();
  }
}
