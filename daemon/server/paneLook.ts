/** Asks tmux which panes are such and such: one question at a time, and once more when there was reason to meanwhile. */
export interface PaneLookOptions<T> {
  readonly ask: () => Promise<readonly T[]>;
  readonly found: (panes: readonly T[]) => void;
  readonly onError: (error: unknown) => void;
}

export class PaneLook<T> {
  readonly #options: PaneLookOptions<T>;
  #asking = false;
  #again = false;

  constructor(options: PaneLookOptions<T>) {
    this.#options = options;
  }

  look(): void {
    this.#again = true;
    if (this.#asking) return;
    this.#asking = true;
    this.#run().catch(this.#options.onError);
  }

  async #run(): Promise<void> {
    try {
      while (this.#again) {
        this.#again = false;
        this.#options.found(await this.#options.ask());
      }
    } finally {
      this.#asking = false;
    }
  }
}
