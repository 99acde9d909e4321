/**
 * Terminal output to plain text, in chunks cut anywhere: a state machine after tmux's own `input.c` that drops escape
 * sequences and control characters and leaves valid UTF-8. Between chunks it keeps only an unfinished character (3
 * bytes), so nothing grows however long a sequence is.
 *
 * The rules:
 * - CSI, OSC, DCS, APC, PM, SOS, `ESC k` titles, other escapes: dropped. OSC and titles end at BEL or at any ESC, DCS at
 *   ST only, as in tmux.
 * - CR LF, CR CR LF, LF, VT, FF: one LF. A lone CR ends the line when something is on it and more text follows: a
 *   progress line that is overwritten is a new line of text, never the old one with more after it.
 * - Sequences that leave the row or empty the screen (CUP, CUU, CUD, ED 2, RI, RIS, ...) act like that lone CR: text of
 *   two rows, or from before and after a clear, never becomes one word.
 * - TAB stays. Other C0 controls and DEL: dropped. Bytes that are not UTF-8: U+FFFD each.
 */
import { REPLACEMENT_BYTES, isSecondByte, sequenceLength } from "../../../protocol/text/utf8.ts";
import { VtParser } from "./vtParser.ts";

/** Called whenever plain text and its source get out of step: from `outOffset` on, text comes from `sourceOffset` on. */
interface TextMarks {
  mark(outOffset: number, sourceOffset: number): void;
}

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;

/** 1 for bytes that are text by themselves: printable ASCII and TAB. */
const IS_TEXT = new Uint8Array(256).map((_, byte) => (byte === 9 || (byte >= 0x20 && byte < 0x7f) ? 1 : 0));
/** What `strip` may append at most for `length` bytes: a U+FFFD for each and one for what was carried, and a line end. */
export const stripRoom = (length: number): number => length * 3 + 8;

export class AnsiStripper {
  readonly #escapes = new VtParser({ leaveRow: (source) => this.#leaveLine(source, false) });
  /** A CR or a move to another row that ends the line once more text comes. `#breakAt` is its position in the source. */
  #isBreakPending = false;
  #isCarriageReturn = false;
  #breakAt = 0;
  #isLineEmpty = true;
  /** A character cut by the end of a chunk. */
  readonly #cut = new Uint8Array(4);
  #cutLength = 0;
  #cutAt = 0;
  /** Text and source are out of step: the next byte of text is marked. */
  #isShifted = true;

  /** The last `?2004h` or `?2004l`; undefined when none was seen. */
  get bracketedPaste(): boolean | undefined {
    return this.#escapes.bracketedPaste;
  }

  /** Source offset after that sequence. */
  get bracketedPasteAt(): number {
    return this.#escapes.bracketedPasteAt;
  }

  /** The cursor has left the end of the last line of text (by CR, or to another row). */
  get hasLeftLine(): boolean {
    return this.#isBreakPending;
  }

  /** Forgets an unfinished sequence, character or line end: the source has a gap here. */
  reset(): void {
    this.#escapes.reset();
    this.#isBreakPending = false;
    this.#isLineEmpty = true;
    this.#cutLength = 0;
    this.#isShifted = true;
  }

  /**
   * Appends the plain text of `bytes` to `out` at `outOffset` and returns where it ends. `out` must have
   * `stripRoom(bytes.length)` bytes left. `source` is the source offset of `bytes[0]`.
   */
  strip(bytes: Uint8Array, out: Uint8Array, outOffset: number, source = 0, marks?: TextMarks): number {
    const length = bytes.length;
    let at = 0;
    let end = outOffset;
    if (this.#cutLength > 0) {
      at = this.#resumeCharacter(bytes, 0);
      if (this.#cutLength < 0) end = this.#flushCut(out, end, source + at, marks);
      this.#cutLength = Math.max(0, this.#cutLength);
    }
    while (at < length) {
      if (this.#escapes.isInside) {
        at = this.#escapes.skip(bytes, at, source);
        continue;
      }
      const byte = bytes[at] ?? 0;
      if (IS_TEXT[byte] === 1) {
        if (this.#isBreakPending) end = this.#breakLine(out, end, marks);
        if (this.#isShifted) this.#unshift(end, source + at, marks);
        out[end++] = byte;
        at++;
        let next: number | undefined;
        // The hot loop: runs of ordinary text.
        while (at < length && IS_TEXT[(next = bytes[at]!)] === 1) {
          out[end++] = next;
          at++;
        }
        this.#isLineEmpty = false;
      } else if (byte === CR && bytes[at + 1] === LF && !this.#isBreakPending) {
        this.#unshift(end, source + at, marks);
        out[end++] = LF;
        at += 2;
        // At once, as behind all that is not as long as its source: nothing may follow it yet.
        this.#unshift(end, source + at, marks);
        this.#isLineEmpty = true;
      } else if (byte >= 0x80) {
        const taken = this.#takeCharacter(bytes, at, source);
        if (this.#cutLength < 0) {
          end = this.#flushCut(out, end, source + taken, marks);
          this.#cutLength = 0;
        }
        at = taken;
      } else {
        end = this.#control(byte, out, end, source + at, marks);
        at++;
      }
    }
    return end;
  }

  #unshift(end: number, sourceOffset: number, marks: TextMarks | undefined): void {
    marks?.mark(end, sourceOffset);
    this.#isShifted = false;
  }

  #breakLine(out: Uint8Array, end: number, marks: TextMarks | undefined): number {
    this.#isBreakPending = false;
    this.#isShifted = true;
    if (this.#isLineEmpty) return end;
    marks?.mark(end, this.#breakAt);
    out[end] = LF;
    this.#isLineEmpty = true;
    return end + 1;
  }

  #leaveLine(sourceOffset: number, isCarriageReturn: boolean): void {
    this.#isShifted = true;
    if (this.#isBreakPending) return;
    this.#isBreakPending = true;
    this.#isCarriageReturn = isCarriageReturn;
    this.#breakAt = sourceOffset;
  }

  #control(byte: number, out: Uint8Array, end: number, sourceOffset: number, marks: TextMarks | undefined): number {
    this.#isShifted = true;
    if (byte === ESC) {
      this.#escapes.begin(sourceOffset);
      return end;
    }
    if (byte === CR) {
      this.#leaveLine(sourceOffset, true);
      return end;
    }
    // LF, VT and FF all end the line in tmux.
    if (byte < LF || byte > 0x0c) return end;
    marks?.mark(end, this.#isBreakPending && this.#isCarriageReturn ? this.#breakAt : sourceOffset);
    this.#isBreakPending = false;
    this.#isLineEmpty = true;
    out[end] = LF;
    this.#unshift(end + 1, sourceOffset + 1, marks);
    return end + 1;
  }

  /**
   * Takes the character that begins at `at`, or as much of it as has come. Sets `#cutLength` below 0 to have it
   * flushed.
   */
  #takeCharacter(bytes: Uint8Array, at: number, source: number): number {
    this.#cut[0] = bytes[at] ?? 0;
    this.#cutAt = source + at;
    this.#cutLength = 1;
    return this.#resumeCharacter(bytes, at + 1);
  }

  /** Continues the character in `#cut`. A finished one has its length negated, a broken one becomes U+FFFD. */
  #resumeCharacter(bytes: Uint8Array, from: number): number {
    const lead = this.#cut[0] ?? 0;
    const wanted = sequenceLength(lead);
    let at = from;
    while (this.#cutLength < wanted && at < bytes.length) {
      const byte = bytes[at] ?? 0;
      const fits = this.#cutLength === 1 ? isSecondByte(lead, byte) : (byte & 0xc0) === 0x80;
      if (!fits) return this.#breakCharacter(at);
      this.#cut[this.#cutLength++] = byte;
      at++;
    }
    if (wanted === 0) return this.#breakCharacter(at);
    if (this.#cutLength === wanted) this.#cutLength = -wanted;
    return at;
  }

  #breakCharacter(at: number): number {
    this.#cut.set(REPLACEMENT_BYTES);
    this.#cutLength = -3;
    this.#isBroken = true;
    return at;
  }

  #isBroken = false;

  /** @param sourceEnd after its bytes */
  #flushCut(out: Uint8Array, offset: number, sourceEnd: number, marks: TextMarks | undefined): number {
    let end = offset;
    if (this.#isBreakPending) end = this.#breakLine(out, end, marks);
    // A character carried over a chunk, or replaced, differs in length or position from its bytes here.
    if (this.#isShifted || this.#isBroken) marks?.mark(end, this.#cutAt);
    const length = -this.#cutLength;
    for (let index = 0; index < length; index++) out[end++] = this.#cut[index] ?? 0;
    this.#isShifted = false;
    if (this.#isBroken) this.#unshift(end, sourceEnd, marks);
    this.#isBroken = false;
    this.#isLineEmpty = false;
    return end;
  }
}
