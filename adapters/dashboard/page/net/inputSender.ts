/**
 * Keys typed into a pane, in order: one request at a time, keys typed meanwhile go together in the next. Nothing is sent
 * twice: after a failure, waiting input is dropped and the person is told.
 */
import type { Clock } from "../../../../daemon/time/clock.ts";

interface InputSenderOptions {
  readonly send: (input: string, signal: AbortSignal) => Promise<unknown>;
  readonly clock: Clock;
  /** Some input has not arrived, or may not have. */
  readonly onProblem: (message: string) => void;
}

/** More than anyone types during one request; a longer paste belongs in the answer box. */
export const MAX_WAITING_CHARS = 65_536;
/** Per request: even with every character escaped, the body is below the server's 64 KiB. */
export const MAX_PIECE_CHARS = 8_000;

/** A connection that has ended without a word takes a browser minutes to notice, and all that is typed would wait for it. */
export const SEND_WITHIN_MS = 15_000;

export class InputSender {
  readonly #options: InputSenderOptions;
  #waiting = "";
  #sending = false;

  constructor(options: InputSenderOptions) {
    this.#options = options;
  }

  type(input: string): void {
    if (this.#waiting.length + input.length > MAX_WAITING_CHARS) {
      this.#options.onProblem("too much typed at once: it was not sent; use the answer box for long text");
      return;
    }
    this.#waiting += input;
    if (!this.#sending) void this.#drain();
  }

  /** Discards what has not been sent. */
  drop(): void {
    this.#waiting = "";
  }

  async #drain(): Promise<void> {
    this.#sending = true;
    try {
      while (this.#waiting !== "") {
        const input = firstPiece(this.#waiting);
        this.#waiting = this.#waiting.slice(input.length);
        // oxlint-disable-next-line no-await-in-loop -- keys keep their order
        await this.#send(input);
      }
    } catch (error) {
      this.#waiting = "";
      this.#options.onProblem(error instanceof Error ? error.message : "the keys did not arrive");
    } finally {
      this.#sending = false;
    }
  }

  async #send(input: string): Promise<void> {
    const { send, clock } = this.#options;
    const abort = new AbortController();
    const late = clock.callAt(clock.nowMs() + SEND_WITHIN_MS, () => abort.abort());
    try {
      await send(input, abort.signal);
    } finally {
      late.cancel();
    }
  }
}

/** Does not cut a surrogate pair. */
function firstPiece(text: string): string {
  const piece = text.slice(0, MAX_PIECE_CHARS);
  const isCut = piece.length < text.length && /[\uD800-\uDBFF]$/.test(piece);
  return isCut ? piece.slice(0, -1) : piece;
}
