/**
 * What a pane's stream tells of the shell's line editor: whether it reads (`?2004`), the shell's own marks (OSC 133), and
 * where the row of the prompt can have begun. Each look reads only what has come since the one before.
 */
import type { OutputSource } from "../outputSource.ts";

const EDITOR = "\u001b[?2004";
const MARK = "\u001b]133;";
/** The longest sequence that is looked for, less one byte: it may be cut by the end of what has come. */
const CARRY = EDITOR.length;

export class PromptSigns {
  /** A line editor reads, or has stopped reading; undefined when nobody said so. */
  isEditing: boolean | undefined;
  /** The newest OSC 133: `A` and `B` belong to a prompt, `C` and `D` to a command. */
  mark: string | undefined;
  /** Where the newest prompt mark and the newest line feed end. */
  promptMarkSeq = -1;
  lineFeedSeq = -1;
  /** Where our last command in this shell ended. */
  ownEndSeq = -1;
  /** The cursor's row when the line was last known to be empty. */
  emptyRow: string | undefined;
  #at: number;
  #carry = "";

  constructor(source: OutputSource) {
    this.#at = source.tailSeq;
    // What is gone from the stream may have held anything.
    if (this.#at > 0) this.lineFeedSeq = this.#at;
  }

  /** Nothing but one row has come since the stream began, our last command ended or the shell marked its prompt. */
  get isFirstRow(): boolean {
    return this.lineFeedSeq <= Math.max(this.ownEndSeq, this.isAtMarkedPrompt ? this.promptMarkSeq : -1);
  }

  /** No shell has said or shown here that it came to a prompt. */
  get isFresh(): boolean {
    return this.isEditing === undefined && this.mark === undefined && this.emptyRow === undefined;
  }

  get isAtMarkedPrompt(): boolean {
    return this.mark === "A" || this.mark === "B";
  }

  readOn(source: OutputSource): void {
    for (let slice = source.read(this.#at); slice.kind !== "end"; slice = source.read(this.#at)) {
      if (slice.kind === "gap") {
        this.#at = slice.gap.to;
        this.#carry = "";
        this.isEditing = undefined;
        this.mark = undefined;
        this.lineFeedSeq = this.#at;
        continue;
      }
      this.#take(Buffer.from(slice.bytes.buffer, slice.bytes.byteOffset, slice.bytes.byteLength).toString("latin1"));
      this.#at = slice.to;
    }
  }

  #take(fresh: string): void {
    const text = this.#carry + fresh;
    const from = this.#at - this.#carry.length;
    const editor = lastWhole(text, EDITOR);
    if (editor >= 0) this.isEditing = text[editor + EDITOR.length] === "h";
    const mark = lastWhole(text, MARK);
    if (mark >= 0) {
      this.mark = text[mark + MARK.length];
      if (this.isAtMarkedPrompt) this.promptMarkSeq = from + mark;
    }
    const lineFeed = fresh.lastIndexOf("\n");
    if (lineFeed >= 0) this.lineFeedSeq = this.#at + lineFeed + 1;
    this.#carry = text.slice(-CARRY);
  }
}

/** The last place of `sequence` that has its next character behind it. */
const lastWhole = (text: string, sequence: string): number =>
  text.lastIndexOf(sequence, text.length - sequence.length - 1);
