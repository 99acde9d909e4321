/** Listeners, in the order in which they subscribed. An error in one affects no other and is logged. */
export class Listeners<Event> {
  readonly #onError: (error: unknown) => void;
  /** Replaced, never mutated, so that an event goes to those subscribed when it was emitted. */
  #listeners: readonly ((event: Event) => void)[] = [];

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Returns the unsubscribe function. */
  subscribe(listener: (event: Event) => void): () => void {
    // One of its own, so that whoever subscribes the same twice ends one of the two.
    const own = (event: Event): void => listener(event);
    this.#listeners = [...this.#listeners, own];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== own);
    };
  }

  get count(): number {
    return this.#listeners.length;
  }

  emit(event: Event): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  /** Drops every listener. */
  clear(): void {
    this.#listeners = [];
  }
}
