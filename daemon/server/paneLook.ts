/** Asks tmux which panes are such and such: one question at a time, and once more when there was reason to meanwhile. */
import type { PaneId } from "../../protocol/ids.ts";

export interface PaneLookOptions {
  readonly ask: () => Promise<readonly PaneId[]>;
  readonly found: (panes: readonly PaneId[]) => void;
  readonly onError: (error: unknown) => void;
}

export class PaneLook {
  readonly #options: PaneLookOptions;
  #asking = false;
  #again = false;

  constructor(options: PaneLookOptions) {
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
