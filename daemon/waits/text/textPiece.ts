/**
 * A stretch of plain text by itself, with the way back to its bytes: what RE2 was given is still known when its result
 * comes, however much output has pushed it out of the stream meanwhile.
 */
import type { SourceMarks } from "./sourceMarks.ts";

/** Text by offset, and where in the source it comes from. */
export interface PlacedText {
  view(from: number, to: number): Buffer;
  byteAt(offset: number): number;
  /** Where the bytes of the character at a text offset begin. */
  sourceOf(offset: number): number;
  /** Where the bytes of the character before a text offset end. */
  sourceEndOf(offset: number): number;
}

const LF = 0x0a;

export class TextPiece implements PlacedText {
  readonly from: number;
  readonly bytes: Buffer;
  readonly #marks: SourceMarks;

  /** @param from text offset of the first byte */
  constructor(from: number, bytes: Buffer, marks: SourceMarks) {
    this.from = from;
    this.bytes = bytes;
    this.#marks = marks;
  }

  view(from: number, to: number): Buffer {
    return this.bytes.subarray(Math.max(0, from - this.from), Math.max(0, to - this.from));
  }

  byteAt(offset: number): number {
    return this.bytes[offset - this.from] ?? 0;
  }

  sourceOf(offset: number): number {
    return this.#marks.sourceOf(offset);
  }

  sourceEndOf(offset: number): number {
    return offset <= this.from ? this.sourceOf(offset) : sourceEnd(this.#marks, offset, this.byteAt(offset - 1));
  }
}

/** @param last the byte before `offset` */
export function sourceEnd(marks: SourceMarks, offset: number, last: number): number {
  const begin = marks.sourceOf(offset - 1);
  // A mark right here bounds it: a lone CR is one byte though CR LF is two, a U+FFFD is three bytes for one.
  const at = marks.sourceAt(offset);
  return at === undefined ? begin + 1 : Math.min(begin + (last === LF ? 2 : 1), at);
}
