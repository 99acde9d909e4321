/**
 * Single flight: at most one run of an asynchronous function is in progress and one more queued, however often it is called.
 * The queued run is needed because the result of the current one may be older than the reason for the call.
 */
export class SingleFlight {
  readonly #ask: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** @param onError for `soon`: called once for each run that fails; default: ignored */
  constructor(ask: () => Promise<void>, onError: (error: unknown) => void = () => undefined) {
    this.#ask = ask;
    this.#onError = onError;
  }

  /** Runs in this turn if nothing is in progress. Settles with a run that began after this call. */
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

  /** The same, for a caller that does not wait. */
  soon(): void {
    // A queued run serves this call too; its own caller gets any failure.
    if (this.#next === undefined) this.now().catch(this.#onError);
  }

  /** Turns a synchronous throw into a rejection. */
  async #run(): Promise<void> {
    await this.#ask();
  }
}
