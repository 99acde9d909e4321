/**
 * What a source's output has set and reported so far, and the listeners for what comes next: one reading for all. It
 * reads only when somebody asks or listens, and then only what has come since; output that nobody wants costs nothing.
 * What is no longer retained by then counts as unknown.
 */
import type { Gap } from "../../../protocol/position.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import { type MarkHandlers, type StreamMark, StreamMarks } from "./streamMarks.ts";

export type ShellMark = (StreamMark & { readonly kind: "shellMark" })["mark"];

const LF = 0x0a;
/** A long unread stretch with nothing of interest is skipped up to this much of its end. */
const TAIL_BYTES = 8_192;
/** The last one is a reset, which ends bracketed paste. */
const NEEDLES = ["2004", "]133;", "\u001bc"];
const TRACKERS = new WeakMap<OutputSource, VtTracker>();

/** The tracker of this source. */
export function trackerOf(source: OutputSource): VtTracker {
  let tracker = TRACKERS.get(source);
  if (tracker === undefined) {
    tracker = new VtTracker(source);
    TRACKERS.set(source, tracker);
  }
  return tracker;
}

export class VtTracker {
  readonly #source: OutputSource;
  readonly #marks: StreamMarks;
  #at: number;
  #listeners: readonly MarkHandlers[] = [];
  #isReading = false;
  #followers = 0;
  #unfollow: (() => void) | undefined;
  #bracketedPaste: boolean | undefined;
  #bracketedPasteSeq = -1;
  #shellMark: ShellMark | undefined;
  #promptMarkSeq = -1;
  #lineFeedSeq: number;

  constructor(source: OutputSource) {
    this.#source = source;
    this.#at = source.tailSeq;
    // Output that has left the ring may have held anything.
    this.#lineFeedSeq = this.#at > 0 ? this.#at : -1;
    this.#marks = new StreamMarks({
      mark: (mark, from, to) => this.#mark(mark, from, to),
      bell: (at) => this.#tell((listener) => listener.bell?.(at)),
    });
    this.#marks.hearsBells = false;
  }

  /** Whether bracketed paste is on; undefined when no switch was seen. */
  get bracketedPaste(): boolean | undefined {
    return this.#bracketedPaste;
  }

  /** Where it was switched; -1 when it was not. */
  get bracketedPasteSeq(): number {
    return this.#bracketedPasteSeq;
  }

  /** The newest OSC 133. */
  get shellMark(): ShellMark | undefined {
    return this.#shellMark;
  }

  /** Where the newest mark of a prompt begins, and where the newest line feed ends; -1 for none. */
  get promptMarkSeq(): number {
    return this.#promptMarkSeq;
  }

  get lineFeedSeq(): number {
    return this.#lineFeedSeq;
  }

  /** Reads what has come, and tells the listeners. */
  readOn(): this {
    // A listener that calls this gets the rest anyway.
    if (this.#isReading) return this;
    this.#isReading = true;
    try {
      this.#read();
    } finally {
      this.#isReading = false;
    }
    return this;
  }

  #read(): void {
    for (let slice = this.#source.read(this.#at); slice.kind !== "end"; slice = this.#source.read(this.#at)) {
      if (slice.kind === "gap") this.#gap(slice.gap);
      else this.#take(slice.bytes, slice.from, slice.to);
    }
  }

  /** Reports what comes from now on, whenever somebody causes a read. Returns the function that stops it. */
  listen(listener: MarkHandlers): () => void {
    this.readOn();
    this.#listeners = [...this.#listeners, listener];
    this.#marks.hearsBells = this.#listeners.some(({ bell }) => bell !== undefined);
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
      this.#marks.hearsBells = this.#listeners.some(({ bell }) => bell !== undefined);
    };
  }

  /** The same, in the turn in which the output comes. */
  follow(listener: MarkHandlers): () => void {
    const stop = this.listen(listener);
    this.#followers += 1;
    const readOn = (): void => void this.readOn();
    this.#unfollow ??= this.#source.subscribe({ advanced: readOn, gap: readOn, exited: readOn, closed: readOn });
    let isFollowing = true;
    return () => {
      if (!isFollowing) return;
      isFollowing = false;
      stop();
      this.#followers -= 1;
      if (this.#followers > 0) return;
      this.#unfollow?.();
      this.#unfollow = undefined;
    };
  }

  #take(bytes: Uint8Array, from: number, to: number): void {
    this.#at = to;
    const lineFeed = bytes.lastIndexOf(LF);
    if (lineFeed >= 0) this.#lineFeedSeq = from + lineFeed + 1;
    const skipped = this.#skippable(bytes);
    this.#marks.push(bytes.subarray(skipped), from + skipped);
  }

  /**
   * How much need not be parsed (20 ms for a megabyte of sequences): nobody listens, and it contains nothing that is
   * tracked. A string that begins in it and outlasts the rest is taken for text.
   */
  #skippable(bytes: Uint8Array): number {
    const length = bytes.length - TAIL_BYTES;
    if (length <= 0 || this.#listeners.length > 0 || this.#marks.isInside) return 0;
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return NEEDLES.some((needle) => view.includes(needle, 0, "latin1")) ? 0 : length;
  }

  #gap(gap: Gap): void {
    const { to } = gap;
    this.#at = to;
    this.#marks.reset();
    this.#bracketedPaste = undefined;
    this.#shellMark = undefined;
    this.#lineFeedSeq = to;
    this.#tell((listener) => listener.gap?.(gap));
  }

  #mark(mark: StreamMark, from: number, to: number): void {
    if (mark.kind === "bracketedPaste") {
      this.#bracketedPaste = mark.on;
      this.#bracketedPasteSeq = from;
    }
    if (mark.kind === "shellMark") {
      this.#shellMark = mark.mark;
      if (mark.mark === "prompt") this.#promptMarkSeq = from;
    }
    this.#tell((listener) => listener.mark?.(mark, from, to));
  }

  #tell(call: (listener: MarkHandlers) => void): void {
    for (const listener of this.#listeners) call(listener);
  }
}
