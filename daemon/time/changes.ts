/** Something that changes, and one that waits until it does, so that nothing has to poll. */
import type { Clock } from "./clock.ts";

export class Changes {
  #count = 0;
  #wake: (() => void) | undefined;

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  changed(): void {
    this.#count += 1;
    this.#wake?.();
  }

  /** True at the next change, or at once if there were some after `known`; false when it is time. */
  async next(known: number, clock?: Clock, untilMs = 0): Promise<boolean> {
    if (this.#count !== known) return true;
    await new Promise<void>((resolve) => {
      const timer = clock?.callAt(untilMs, resolve);
      this.#wake = () => {
        timer?.cancel();
        resolve();
      };
    });
    this.#wake = undefined;
    return this.#count !== known;
  }
}
