/**
 * The most recent plain text of one source, and the way back to its bytes. Text is derived once, appended, and addressed by a
 * text offset that only grows; what is no longer needed is dropped from the front. Marks say where text and source
 * run out of step (after every escape sequence, CR LF and odd character), so any text offset has a source position.
 */
import { AnsiStripper, stripRoom } from "../../panes/vt/ansi.ts";
import { isContinuation } from "../../../protocol/text/utf8.ts";

const FIRST_CAPACITY = 4_096;
const LF = 0x0a;

export class PlainText implements PlacedText {
  readonly #stripper = new AnsiStripper();
  #buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  /** Text offset of `#buffer[0]`. */
  #base = 0;
  #used = 0;
  readonly #marks = new SourceMarks();
  readonly #pieces = new Map<string, TextPiece>();
  readonly #sink = {
    mark: (outOffset: number, source: number): void => this.#marks.add(this.#base + outOffset, source),
  };

  /** @param source where in the source the text begins */
  constructor(source: number) {
    this.#marks.add(0, source);
  }

  /** The oldest text offset still here. */
  get base(): number {
    return this.#base;
  }

  /** One past the newest. */
  get head(): number {
    return this.#base + this.#used;
  }

  get bracketedPaste(): boolean | undefined {
    return this.#stripper.bracketedPaste;
  }

  /** Source position after the last `?2004h` or `?2004l`; -1 when there was none. */
  get bracketedPasteAt(): number {
    return this.#stripper.bracketedPasteAt;
  }

  get hasLeftLine(): boolean {
    return this.#stripper.hasLeftLine;
  }

  /** Appends the text of bytes that begin at `source`. Text below `keepFrom()` may be dropped to make room. */
  append(bytes: Uint8Array, source: number, keepFrom: () => number): void {
    const room = stripRoom(bytes.length);
    if (this.#buffer.length - this.#used < room) this.#makeRoom(room, keepFrom());
    this.#used = this.#stripper.strip(bytes, this.#buffer, this.#used, source, this.#sink);
  }

  /** The source has a gap: an unfinished sequence is forgotten, and text continues from `source`. */
  breakAt(source: number): void {
    this.#stripper.reset();
    this.#marks.add(this.head, source);
  }

  /** A view of the text, valid until the next `append`. */
  view(from: number, to: number): Buffer {
    return this.#buffer.subarray(Math.max(0, from - this.#base), Math.max(0, to - this.#base));
  }

  byteAt(offset: number): number {
    return this.#buffer[offset - this.#base] ?? 0;
  }

  /** A copy that outlives what is dropped here, shared by all who ask for the same before `forgetPieces`. */
  piece(from: number, to: number): TextPiece {
    const key = `${from}:${to}`;
    let piece = this.#pieces.get(key);
    if (piece === undefined) {
      // Memory of its own: what shares a pool would be sent to another thread with the whole pool.
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, to - from));
      this.view(from, to).copy(bytes);
      this.#pieces.set(key, (piece = new TextPiece(from, bytes, this.#marks.slice(from, to))));
    }
    return piece;
  }

  forgetPieces(): void {
    this.#pieces.clear();
  }

  sourceOf(offset: number): number {
    return this.#marks.sourceOf(offset);
  }

  sourceEndOf(offset: number): number {
    return offset <= this.#base ? this.sourceOf(offset) : sourceEnd(this.#marks, offset, this.byteAt(offset - 1));
  }

  /** The first character that begins at or after a source position; the head when none has yet. */
  offsetOf(source: number): number {
    const place = this.#marks.offsetOf(source, this.head);
    const { next } = place;
    let offset = Math.max(this.#base, place.offset);
    while (offset < next && isContinuation(this.byteAt(offset))) offset++;
    return offset;
  }

  /** Where the line that holds `offset` begins, at most `limit` bytes before it. */
  lineStart(offset: number, limit: number): number {
    const floor = Math.max(this.#base, offset - limit);
    if (offset <= floor) return floor;
    const found = this.view(floor, offset).lastIndexOf(LF);
    return found < 0 ? this.boundary(floor) : floor + found + 1;
  }

  /** The first place at or after `offset` where a character begins. */
  boundary(offset: number): number {
    let at = offset;
    while (at < this.head && isContinuation(this.byteAt(at))) at++;
    return at;
  }

  #makeRoom(room: number, keepFrom: number): void {
    const from = Math.max(this.#base, Math.min(keepFrom, this.head));
    const kept = this.head - from;
    // Twice what is kept: moving costs less than one copy per byte, however small the chunks are.
    let capacity = this.#buffer.length;
    while (capacity < kept * 2 + room) capacity *= 2;
    const bytes = this.view(from, this.head);
    if (capacity === this.#buffer.length) {
      this.#buffer.copyWithin(0, from - this.#base, this.#used);
    } else {
      const grown = Buffer.allocUnsafeSlow(capacity);
      grown.set(bytes);
      this.#buffer = grown;
    }
    this.#base = from;
    this.#used = kept;
    this.#marks.dropBefore(from);
  }
}

/** Text by offset, and where in the source it comes from. */
export interface PlacedText {
  view(from: number, to: number): Buffer;
  byteAt(offset: number): number;
  /** Where the bytes of the character at a text offset begin. */
  sourceOf(offset: number): number;
  /** Where the bytes of the character before a text offset end. */
  sourceEndOf(offset: number): number;
}

/**
 * A stretch of plain text by itself, with the way back to its bytes: what RE2 was given is still known when its result
 * comes, however much output has pushed it out of the stream meanwhile.
 */
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
function sourceEnd(marks: SourceMarks, offset: number, last: number): number {
  const begin = marks.sourceOf(offset - 1);
  // A mark right here bounds it: a lone CR is one byte though CR LF is two, a U+FFFD is three bytes for one.
  const at = marks.sourceAt(offset);
  return at === undefined ? begin + 1 : Math.min(begin + (last === LF ? 2 : 1), at);
}

const FIRST_MARKS = 64;

/**
 * Where plain text and the source it was derived from run out of step: pairs of a text offset and a source position, both
 * ascending. Between two pairs one byte of text is one byte of source.
 */
class SourceMarks {
  #text: Float64Array;
  #source: Float64Array;
  #count: number;

  constructor(text = new Float64Array(FIRST_MARKS), source = new Float64Array(FIRST_MARKS), count = 0) {
    this.#text = text;
    this.#source = source;
    this.#count = count;
  }

  add(offset: number, source: number): void {
    const last = this.#count - 1;
    if (last >= 0 && (this.#text[last] ?? 0) >= offset) {
      // Nothing came between: the later position is the true one.
      this.#source[last] = source;
      return;
    }
    if (this.#count === this.#text.length) {
      const grown = this.#count * 2;
      const [text, sources] = [this.#text, this.#source];
      (this.#text = new Float64Array(grown)).set(text);
      (this.#source = new Float64Array(grown)).set(sources);
    }
    this.#text[this.#count] = offset;
    this.#source[this.#count] = source;
    this.#count++;
  }

  /** Forgets what only text below `offset` needs. */
  dropBefore(offset: number): void {
    const first = lastAtOrBelow(this.#text, this.#count, offset);
    this.#text.copyWithin(0, first, this.#count);
    this.#source.copyWithin(0, first, this.#count);
    this.#count -= first;
  }

  /** A copy of what the text in `[from, to]` needs. */
  slice(from: number, to: number): SourceMarks {
    const first = lastAtOrBelow(this.#text, this.#count, from);
    const end = lastAtOrBelow(this.#text, this.#count, to) + 1;
    return new SourceMarks(this.#text.slice(first, end), this.#source.slice(first, end), end - first);
  }

  sourceOf(offset: number): number {
    const index = lastAtOrBelow(this.#text, this.#count, offset);
    return (this.#source[index] ?? 0) + offset - (this.#text[index] ?? 0);
  }

  /** The source position of a pair at exactly this text offset. */
  sourceAt(offset: number): number | undefined {
    const index = lastAtOrBelow(this.#text, this.#count, offset);
    return this.#text[index] === offset ? this.#source[index] : undefined;
  }

  /** The text offset that a source position falls on, and the next pair's, at most `head`: text in between is in step. */
  offsetOf(source: number, head: number): { readonly offset: number; readonly next: number } {
    const index = lastAtOrBelow(this.#source, this.#count, source);
    const next = index + 1 < this.#count ? (this.#text[index + 1] ?? 0) : head;
    const beyond = Math.max(0, source - (this.#source[index] ?? 0));
    return { offset: Math.min(next, (this.#text[index] ?? 0) + beyond), next };
  }
}

/** The last entry at or below `value` of an ascending column; the first entry if there is none. */
function lastAtOrBelow(column: Float64Array, count: number, value: number): number {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((column[middle] ?? 0) <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
