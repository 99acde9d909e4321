/**
 * One question at a time, and one more when another was asked meanwhile: the reply under way may be older than the
 * reason to ask. However often it is called, at most one question is under way and one queued.
 */
export class AskOnce {
  readonly #ask: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** @param onError for `soon`: called once for each question that fails; default: ignored */
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

  /** The same for a caller that does not wait. */
  soon(): void {
    // The queued question serves this call, too; its own caller gets any failure.
    if (this.#next === undefined) this.now().catch(this.#onError);
  }

  /** Turns a synchronous throw into a rejection. */
  async #run(): Promise<void> {
    await this.#ask();
  }
}
