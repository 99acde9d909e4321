/**
 * Splits a stream of bytes into lines at LF, for control mode and for the JSON of programs. A line inside one chunk is passed
 * on as a view of that chunk; only a line that spans chunks is copied. The carry is bounded: a longer line is reported once
 * and its bytes are dropped up to its LF, however it was cut into chunks.
 */
import { MAX_LINE_BYTES } from "../limits.ts";

const LF = 10;

/** Called with a view `[from, to)` of `buffer`, without the LF; valid only during the call. */
type LineHandler = (buffer: Uint8Array, from: number, to: number) => void;

export class LineSplitter {
  readonly #onLine: LineHandler;
  readonly #onTooLong: () => void;
  readonly #maxBytes: number;
  #carry = new Uint8Array(4_096);
  #carried = 0;
  /** Whether it is inside a line that has been reported as too long. */
  #skipping = false;

  constructor(onLine: LineHandler, onTooLong: () => void, maxBytes = MAX_LINE_BYTES) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the incomplete line. */
  get carriedBytes(): number {
    return this.#carried;
  }

  push(chunk: Uint8Array): void {
    let from = 0;
    while (from < chunk.length) {
      const end = chunk.indexOf(LF, from);
      if (end === -1) break;
      if (this.#skipping) {
        this.#skipping = false;
      } else if (this.#carried + end - from > this.#maxBytes) {
        this.#carried = 0;
        this.#onTooLong();
      } else if (this.#carried === 0) {
        this.#onLine(chunk, from, end);
      } else {
        this.#keep(chunk, from, end);
        const length = this.#carried;
        this.#carried = 0;
        this.#onLine(this.#carry, 0, length);
      }
      from = end + 1;
    }
    if (from === chunk.length || this.#skipping) return;
    if (this.#carried + chunk.length - from > this.#maxBytes) {
      this.#carried = 0;
      this.#skipping = true;
      this.#onTooLong();
    } else {
      this.#keep(chunk, from, chunk.length);
    }
  }

  #keep(chunk: Uint8Array, from: number, to: number): void {
    const length = this.#carried + to - from;
    if (length > this.#carry.length) {
      const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(length, this.#carry.length * 2)));
      grown.set(this.#carry.subarray(0, this.#carried));
      this.#carry = grown;
    }
    this.#carry.set(chunk.subarray(from, to), this.#carried);
    this.#carried = length;
  }
}
