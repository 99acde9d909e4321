/**
 * Hides the echo of what one wait types from its watches: moves their bounds as the mask decides, and has them search the
 * text that the mask shows late.
 */
import { type OutputSource, slicesOf } from "../../tmux/outputSource.ts";
import { trackerOf } from "../../panes/vt/vtTracker.ts";
import { EchoMask } from "../echo/echoMask.ts";
import type { TextWatch } from "./textWatch.ts";

/** How much of the row before the typing is read: prompts are shorter, colours included. */
const MAX_ROW_BYTES = 1_024;
/** A prompt of several rows, and a line that is being edited below it. */
const MAX_PROMPT_BYTES = 4_096;
const LF = 0x0a;
const CR = 0x0d;
const ENDS = new Set([LF, CR, 0x03, 0x04, 0x1a, 0x1c]);

interface Typing {
  /** What is typed. */
  readonly typed: Uint8Array;
  /** The same with the keys, as bytes. */
  readonly sends: Uint8Array;
  /** The source position at which it is typed. */
  readonly head: number;
  /** A shell at its prompt reads from the pane. */
  readonly isShell: boolean;
  readonly windowBytes: number;
}

export class EchoWatch {
  readonly #mask: EchoMask;
  readonly #watches: Set<TextWatch>;

  /** Undefined when no echo can come. */
  static of(source: OutputSource, watches: ReadonlySet<TextWatch>, typing: Typing): EchoWatch | undefined {
    const { typed, sends, head, isShell, windowBytes } = typing;
    if (sends.length === 0 || watches.size === 0) return undefined;
    const { bracketedPaste, bracketedPasteSeq, lineFeedSeq } = trackerOf(source).readOn();
    const isLineEditor = bracketedPaste === true;
    // A program that was killed may have left it on: a shell that announces its editor does so before each prompt.
    const isAnnounced = isLineEditor && lineFeedSeq <= bracketedPasteSeq + MAX_PROMPT_BYTES;
    const isShellEditor = isShell && isAnnounced && (isEntered(sends) || isTyped(watches, sends));
    if (typed.length === 0 && !isShellEditor) return undefined;
    const row = rowBefore(source, head);
    const mask = new EchoMask({ typed, start: head, row, isLineEditor, isShellEditor, windowBytes });
    return mask.isOver ? undefined : new EchoWatch(mask, watches);
  }

  constructor(mask: EchoMask, watches: Iterable<TextWatch>) {
    this.#mask = mask;
    this.#watches = new Set(watches);
  }

  get isOver(): boolean {
    return this.#mask.isOver || this.#watches.size === 0;
  }

  /** Text is held back; a pause may decide about it. */
  get isHolding(): boolean {
    return this.#mask.visibleTo !== Infinity;
  }

  /** A shell's editor is at work: what is on the screen is its drawing. */
  get isEditing(): boolean {
    return this.#mask.isEditing;
  }

  get openFrom(): number {
    return this.#mask.openFrom;
  }

  forget(watch: TextWatch): void {
    this.#watches.delete(watch);
  }

  /** Before the text of these bytes is matched. */
  feed(bytes: Uint8Array, source: number): void {
    this.#mask.feed(bytes, source);
    this.#bound();
  }

  /** After it was matched, up to `end`: searches what has just become visible. */
  show(end: number, search: (watch: TextWatch, from: number, to: number) => void): void {
    for (const { from, to } of this.#mask.takeShown(end)) {
      for (const watch of this.#watches) search(watch, from, to);
    }
  }

  /** Returns when to ask again, in milliseconds of quiet. */
  settle(quietMs: number): number | undefined {
    const nextMs = this.#mask.settle(quietMs);
    this.#bound();
    return nextMs;
  }

  gap(to: number): void {
    this.#mask.gap(to);
    this.#bound();
  }

  #bound(): void {
    for (const watch of this.#watches) {
      watch.start = Math.max(watch.start, this.#mask.hiddenTo);
      watch.visibleTo = this.#mask.visibleTo;
    }
  }
}

/** One Enter at least, and before the first nothing else that ends a line editor: C-c, C-d, C-z, C-\. */
function isEntered(sends: Uint8Array): boolean {
  const end = sends.findIndex((byte) => ENDS.has(byte));
  return end > 0 && (sends[end] === CR || sends[end] === LF);
}

/** It stays in the editor, and all that is waited for stands in it. */
function isTyped(watches: ReadonlySet<TextWatch>, sends: Uint8Array): boolean {
  if (sends.some((byte) => ENDS.has(byte))) return false;
  return [...watches].every((watch) => watch.kind === "literal" && Buffer.from(sends).includes(watch.bytes));
}

function rowBefore(source: OutputSource, head: number): Uint8Array {
  const from = Math.max(source.tailSeq, head - MAX_ROW_BYTES);
  let row = Buffer.alloc(0);
  // What is before a gap is on a row of which not all is known.
  for (const slice of slicesOf(source, from, head))
    row = slice.kind === "gap" ? Buffer.alloc(0) : Buffer.concat([row, slice.bytes]);
  return row.subarray(row.lastIndexOf(LF) + 1);
}
