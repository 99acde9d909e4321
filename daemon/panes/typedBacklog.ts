/**
 * What was typed and has not reached one reader yet, each piece at its position in the output. Bounded: what does not
 * fit is counted, and reported with the next piece.
 */
import type { OutputSource } from "../tmux/outputSource.ts";

const MAX_BYTES = 1_048_576;
const MAX_PIECES = 1_024;

interface TypedPiece {
  /** The output it belongs to. */
  readonly source: OutputSource;
  /** The head of that output at the time. */
  readonly at: number;
  readonly bytes: Uint8Array;
  /** Bytes before it that were dropped. */
  readonly missedBytes: number;
}

export class TypedBacklog {
  #pieces: TypedPiece[] = [];
  #bytes = 0;
  #missedBytes = 0;

  get first(): TypedPiece | undefined {
    return this.#pieces[0];
  }

  add(source: OutputSource, bytes: Uint8Array): void {
    if (this.#pieces.length >= MAX_PIECES || this.#bytes + bytes.length > MAX_BYTES) {
      this.#missedBytes += bytes.length;
      return;
    }
    this.#pieces.push({ source, at: source.outputSeq, bytes, missedBytes: this.#missedBytes });
    this.#bytes += bytes.length;
    this.#missedBytes = 0;
  }

  take(): void {
    this.#bytes -= this.#pieces.shift()?.bytes.length ?? 0;
  }
}
