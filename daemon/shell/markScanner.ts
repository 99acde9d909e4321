/**
 * Extracts a command's output from a stream: the bytes between a start and an end mark, however the stream is cut into
 * chunks. Keeps the newest output up to a bound and reports what it dropped; marks are searched for in a tail that is longer
 * than any mark.
 */
import type { Gap } from "../../protocol/position.ts";
import type { ShellMarks } from "./shellLine.ts";

/** The longest mark: OSC 133 with parameters. A longer sequence is not a mark. */
const MAX_MARK_BYTES = 256;
/** The first character of every mark. */
const MARK_BEGINS = "\u001b";

export interface MarkedOutput {
  readonly bytes: Uint8Array;
  readonly from: number;
  readonly to: number;
  readonly status: number | undefined;
  readonly gaps: readonly Gap[];
}

export class MarkScanner {
  readonly #marks: ShellMarks;
  readonly #maxBytes: number;
  readonly #onOutput: ((bytes: Uint8Array) => void) | undefined;
  #end: RegExp | undefined;
  readonly #gaps: Gap[] = [];
  /** Bytes not yet searched completely, as latin1: one character per byte. */
  #tail = "";
  #tailSeq: number;
  #startSeq: number | undefined;
  #kept: Buffer[] = [];
  #keptBytes = 0;
  #dropped: { readonly from: number; to: number } | undefined;

  /** @param fromSeq where the stream is read from @param onOutput gets every byte of the output as it comes */
  constructor(marks: ShellMarks, fromSeq: number, maxBytes: number, onOutput?: (bytes: Uint8Array) => void) {
    this.#onOutput = onOutput;
    this.#marks = marks;
    this.#tailSeq = fromSeq;
    this.#maxBytes = maxBytes;
    if (marks.isStartOptional) this.#end = marks.end(undefined);
  }

  get hasStarted(): boolean {
    return this.#startSeq !== undefined;
  }

  /** Takes in the next bytes of the stream. Returns the output once the end mark has come. */
  push(bytes: Uint8Array): MarkedOutput | undefined {
    this.#tail += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
    if (this.#startSeq === undefined) {
      const start = this.#marks.start.exec(this.#tail);
      if (start !== null) {
        this.#begin(start.index + start[0].length);
        this.#end = this.#marks.end(start[1]);
      }
    }
    const end = this.#end?.exec(this.#tail) ?? null;
    if (end !== null) return this.#finish(end);
    const done = this.#doneBytes();
    if (done > 0) this.#take(done);
    return undefined;
  }

  /** How much of the tail cannot be part of an incomplete mark. */
  #doneBytes(): number {
    const mayBeMark = Math.max(0, this.#tail.length - MAX_MARK_BYTES);
    if (this.#startSeq === undefined) return mayBeMark;
    const begins = this.#tail.indexOf(MARK_BEGINS, mayBeMark);
    return begins < 0 ? this.#tail.length : begins;
  }

  /** Bytes of the stream are missing here; a mark among them will not come. */
  gap(gap: Gap): void {
    this.#gaps.push(gap);
    if (this.#startSeq === undefined) {
      this.#startSeq = gap.to;
      this.#end = this.#marks.end(undefined);
    } else this.#take(this.#tail.length);
    this.#tail = "";
    this.#tailSeq = gap.to;
  }

  /** For when no end mark will come: the output as far as it is known, without its incomplete last row, which is the prompt. */
  giveUp(): MarkedOutput {
    this.#take(this.#tail.length);
    const all = Buffer.concat(this.#kept);
    const bytes = all.subarray(0, all.lastIndexOf("\n") + 1);
    return this.#output(bytes, this.#tailSeq - (all.length - bytes.length), undefined);
  }

  #begin(length: number): void {
    this.#tail = this.#tail.slice(length);
    this.#tailSeq += length;
    this.#startSeq = this.#tailSeq;
  }

  #finish(end: RegExpExecArray): MarkedOutput {
    if (this.#startSeq === undefined) {
      // Without a start mark, the first line is the echo of the typed line.
      const echo = this.#tail.lastIndexOf("\n", end.index) < 0 ? 0 : this.#tail.indexOf("\n") + 1;
      this.#begin(Math.min(echo, end.index));
      end.index -= Math.min(echo, end.index);
    }
    this.#take(end.index);
    return this.#output(Buffer.concat(this.#kept), this.#tailSeq, end[1] === undefined ? undefined : Number(end[1]));
  }

  #output(bytes: Buffer, to: number, status: number | undefined): MarkedOutput {
    const gaps =
      this.#dropped === undefined ? this.#gaps : [{ ...this.#dropped, reason: "evicted" as const }, ...this.#gaps];
    return { bytes, from: this.#startSeq ?? to, to, status, gaps };
  }

  /** Moves bytes from the tail to the kept output; before the start mark they are dropped. */
  #take(length: number): void {
    const bytes = Buffer.from(this.#tail.slice(0, length), "latin1");
    this.#tail = this.#tail.slice(length);
    this.#tailSeq += length;
    if (this.#startSeq === undefined || bytes.length === 0) return;
    this.#onOutput?.(bytes);
    this.#kept.push(bytes);
    this.#keptBytes += bytes.length;
    while (this.#keptBytes > this.#maxBytes) this.#drop(this.#keptBytes - this.#maxBytes);
  }

  #drop(excess: number): void {
    const [first] = this.#kept;
    if (first === undefined) return;
    const length = Math.min(excess, first.length);
    if (length === first.length) this.#kept.shift();
    else this.#kept[0] = first.subarray(length);
    this.#keptBytes -= length;
    this.#dropped ??= { from: this.#startSeq!, to: this.#startSeq! };
    this.#dropped.to += length;
  }
}
