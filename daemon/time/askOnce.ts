/**
 * One question at a time, and one more when there was reason to ask meanwhile: a reply that was under way may be older
 * than the reason. However often it is asked for, no more than one question is under way and one is to follow.
 */
export class AskOnce {
  readonly #ask: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** @param onError for `soon`: once for each question that fails; default nobody is told */
  constructor(ask: () => Promise<void>, onError: (error: unknown) => void = () => undefined) {
    this.#ask = ask;
    this.#onError = onError;
  }

  /** Asks in this turn when nothing is under way. Resolves, or rejects, with a question that began after this call. */
  now(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#run().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    const follow = (): Promise<void> => {
      this.#next = undefined;
      return this.now();
    };
    this.#next ??= this.#running.then(follow, follow);
    return this.#next;
  }

  /** The same for who does not wait for it. */
  soon(): void {
    // The one that is to follow serves this reason, too, and has somebody who is told.
    if (this.#next === undefined) this.now().catch(this.#onError);
  }

  /** What is thrown at once is a failure like any other. */
  async #run(): Promise<void> {
    await this.#ask();
  }
}
