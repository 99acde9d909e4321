/**
 * Whether the program has read Enter. If it gets no CPU time (a busy machine, its own start), Enter stays in the terminal's
 * buffer, and a second one would arrive in the same read: programs take the two for line ends, or the second answers a dialog
 * that the first has opened. So Enter is not pressed again until the first was read and had time to show its effect, and the
 * program waits for input. Where the system does not report reads, time alone decides.
 */
import { ENTER_RETRY_LATEST_MS, ENTER_RETRY_MS } from "../deliveryLimits.ts";
import type { PaneReader } from "./paneReader.ts";

export class EnterRead {
  readonly #reader: PaneReader;
  #bytesBefore: number | undefined;
  #pressedMs = 0;
  #seenMs: number | undefined;

  constructor(reader: PaneReader) {
    this.#reader = reader;
  }

  /** To be called in the turn in which Enter is written. */
  isPressed(): void {
    this.#bytesBefore = this.#reader.bytesRead;
    this.#pressedMs = this.#reader.clock.nowMs();
    this.#seenMs = undefined;
  }

  /** Also true where reads cannot be observed. */
  get wasRead(): boolean {
    if (this.#seenMs !== undefined) return true;
    const now = this.#reader.bytesRead;
    if (now !== undefined && this.#bytesBefore !== undefined && now <= this.#bytesBefore) return false;
    this.#seenMs = this.#reader.clock.nowMs();
    return true;
  }

  /** What it does because of Enter counts from here. */
  get sinceMs(): number {
    return this.#seenMs ?? this.#pressedMs;
  }

  /** From when on another may be pressed if the text still stands where it stood; until then, when to ask again. */
  get againMs(): number {
    const nowMs = this.#reader.clock.nowMs();
    if (!this.wasRead) return nowMs + ENTER_RETRY_MS / 2;
    const fromMs = Math.max(this.#pressedMs + ENTER_RETRY_MS, (this.#seenMs ?? 0) + ENTER_RETRY_MS / 2);
    // It may have read Enter without having handled it yet; a program that missed Enter waits for the next key.
    const isAtIt = nowMs >= fromMs && nowMs < this.sinceMs + ENTER_RETRY_LATEST_MS && this.#reader.isRunning;
    return isAtIt ? nowMs + ENTER_RETRY_MS / 8 : fromMs;
  }
}
