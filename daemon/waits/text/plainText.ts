/**
 * The last plain text of one source and the way back to its bytes. Text is derived once, appended, and addressed by a
 * text offset that only grows; what is no longer needed is dropped from the front. Marks say where text and source
 * run out of step (after every escape sequence, CR LF and odd character), so any text offset has a source position.
 */
import { AnsiStripper, stripRoom } from "../../panes/vt/ansi.ts";
import { isContinuation } from "../../../protocol/text/utf8.ts";
import { SourceMarks } from "./sourceMarks.ts";
import { type PlacedText, sourceEnd, TextPiece } from "./textPiece.ts";

const FIRST_CAPACITY = 4_096;
const LF = 0x0a;

export class PlainText implements PlacedText {
  readonly #stripper = new AnsiStripper();
  #buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  /** Text offset of `#buffer[0]`. */
  #base = 0;
  #used = 0;
  readonly #marks = new SourceMarks();
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

  /** A copy that outlives what is dropped here. */
  piece(from: number, to: number): TextPiece {
    // Memory of its own: what shares a pool would be sent to another thread with the whole pool.
    const bytes = Buffer.allocUnsafeSlow(Math.max(0, to - from));
    this.view(from, to).copy(bytes);
    return new TextPiece(from, bytes, this.#marks.slice(from, to));
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
