/**
 * The last plain text of one source and the way back to its bytes. Text is derived once, appended, and addressed by a
 * text offset that only grows; what nobody needs any more is dropped from the front. Marks say where text and source run
 * out of step (behind every escape sequence, CR LF and odd character), so any text offset has a source position.
 */
import { AnsiStripper, stripRoom } from "../../protocol/text/ansi.ts";
import { isContinuation } from "../../protocol/text/utf8.ts";

const FIRST_CAPACITY = 4_096;
const FIRST_MARKS = 64;
const LF = 0x0a;

export class PlainText {
  readonly #stripper = new AnsiStripper();
  #buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  /** Text offset of `#buffer[0]`. */
  #base = 0;
  #used = 0;
  #markText = new Float64Array(FIRST_MARKS);
  #markSource = new Float64Array(FIRST_MARKS);
  #marks = 0;
  readonly #sink = { mark: (outOffset: number, source: number): void => this.#mark(this.#base + outOffset, source) };

  /** @param source where in the source the text begins */
  constructor(source: number) {
    this.#mark(0, source);
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

  /** Source position behind the last `?2004h` or `?2004l`; -1 when there was none. */
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

  /** The source has a hole: an unfinished sequence is forgotten, and text goes on from `source`. */
  breakAt(source: number): void {
    this.#stripper.reset();
    this.#mark(this.head, source);
  }

  /** A view of the text, valid until the next `append`. */
  view(from: number, to: number): Buffer {
    return this.#buffer.subarray(Math.max(0, from - this.#base), Math.max(0, to - this.#base));
  }

  byteAt(offset: number): number {
    return this.#buffer[offset - this.#base] ?? 0;
  }

  /** Where the bytes of the character at a text offset begin. */
  sourceOf(offset: number): number {
    const index = this.#lastMark(this.#markText, offset);
    return (this.#markSource[index] ?? 0) + offset - (this.#markText[index] ?? 0);
  }

  /** Where the bytes of the character before a text offset end. */
  sourceEndOf(offset: number): number {
    if (offset <= this.#base) return this.sourceOf(offset);
    const last = this.sourceOf(offset - 1);
    const tight = last + (this.byteAt(offset - 1) === LF ? 2 : 1);
    // A mark right here bounds it: a lone CR is one byte though CR LF is two, a U+FFFD is three bytes for one.
    const index = this.#lastMark(this.#markText, offset);
    return this.#markText[index] === offset ? Math.min(tight, this.#markSource[index] ?? tight) : last + 1;
  }

  /** The first character that begins at or after a source position; the head when none has yet. */
  offsetOf(source: number): number {
    const index = this.#lastMark(this.#markSource, source);
    const next = index + 1 < this.#marks ? (this.#markText[index + 1] ?? 0) : this.head;
    const beyond = source - (this.#markSource[index] ?? 0);
    let offset = Math.max(this.#base, Math.min(next, (this.#markText[index] ?? 0) + Math.max(0, beyond)));
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

  #mark(offset: number, source: number): void {
    const last = this.#marks - 1;
    if (last >= 0 && (this.#markText[last] ?? 0) >= offset) {
      // Nothing came between: the later place is the true one.
      this.#markSource[last] = source;
      return;
    }
    if (this.#marks === this.#markText.length) {
      const grown = this.#marks * 2;
      const [text, sources] = [this.#markText, this.#markSource];
      (this.#markText = new Float64Array(grown)).set(text);
      (this.#markSource = new Float64Array(grown)).set(sources);
    }
    this.#markText[this.#marks] = offset;
    this.#markSource[this.#marks] = source;
    this.#marks++;
  }

  /** The last mark at or below `value` in one of the two ascending columns; the first when there is none. */
  #lastMark(column: Float64Array, value: number): number {
    let low = 0;
    let high = this.#marks - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((column[middle] ?? 0) <= value) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #makeRoom(room: number, keepFrom: number): void {
    const from = Math.max(this.#base, Math.min(keepFrom, this.head));
    const kept = this.head - from;
    const first = this.#lastMark(this.#markText, from);
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
    this.#markText.copyWithin(0, first, this.#marks);
    this.#markSource.copyWithin(0, first, this.#marks);
    this.#marks -= first;
  }
}
