/**
 * What one wait may match in a stream of text, and whom it notifies. Identical waits share a matcher;
 * what differs between them is here. Text before `start` does not exist for the wait, and no match reaches across it: it moves
 * forward past an echo or a gap. Text from `visibleTo` on is not shown yet, because it may turn out to be the echo of
 * what was typed.
 */
import type { LiteralSet, LiteralWatcher } from "./literalSet.ts";
import type { CompiledRegex } from "../regex/regexEngine.ts";
import type { PlacedText, PlainText } from "./plainText.ts";
import type { AppError } from "../../../protocol/errors.ts";
import type { Gap } from "../../../protocol/position.ts";

interface FoundInStream {
  /** Undefined for what is not text. */
  readonly text?: string | undefined;
  /** Source positions, see `WaitMatch`. */
  readonly from: number;
  readonly to: number;
}

/** What the screen or tmux shows has no place in the stream. */
interface FoundElsewhere {
  readonly text: string;
  readonly on?: "screen" | undefined;
  readonly from?: undefined;
}

export type FoundText = FoundInStream | FoundElsewhere;

/** What one predicate looks for: keeps the first match and notifies the wait. */
export class Latch {
  /** What was found first. */
  match: FoundText | undefined;
  readonly #onFound: () => void;
  /** Output that could not be read. */
  readonly missed: (gap: Gap) => void;
  readonly failed: (error: AppError) => void;

  constructor(onFound: () => void, missed: (gap: Gap) => void, failed: (error: AppError) => void) {
    this.#onFound = onFound;
    this.missed = missed;
    this.failed = failed;
  }

  found(match: FoundText): void {
    if (this.match !== undefined) return;
    this.match = match;
    this.#onFound();
  }
}

/** A match as a result reports it. */
export function foundText(text: PlacedText, from: number, to: number, maxBytes: number): FoundInStream {
  // A cut inside a character would end in U+FFFD: back up to where it begins.
  let end = Math.min(to, from + maxBytes);
  while (end > from && end < to && (text.byteAt(end) & 0xc0) === 0x80) end--;
  return {
    text: text.view(from, end).toString("utf8"),
    from: text.sourceOf(from),
    to: Math.max(text.sourceOf(from), text.sourceEndOf(to)),
  };
}

/** One thing that a wait searches for in the plain text of its output. */
export type TextWatch = LiteralWatch | RegexWatch | PromptWatch;

/** A literal of one wait: watched in the shared set, and searched by itself where text becomes visible late. */
export class LiteralWatch implements LiteralWatcher {
  readonly kind = "literal";
  start: number;
  visibleTo = Infinity;
  readonly latch: Latch;
  readonly bytes: Buffer;
  readonly #maxMatchBytes: number;
  #text: PlainText | undefined;
  #literals: LiteralSet | undefined;

  constructor(latch: Latch, bytes: Buffer, start: number, maxMatchBytes: number) {
    this.latch = latch;
    this.bytes = bytes;
    this.start = start;
    this.#maxMatchBytes = maxMatchBytes;
  }

  /** Where it is watched from now on. */
  attach(text: PlainText, literals: LiteralSet): void {
    this.#text = text;
    this.#literals = literals;
  }

  detach(): void {
    this.#literals?.unwatch(this.bytes, this);
    this.#text = undefined;
  }

  literalFound(from: number, to: number): void {
    const text = this.#text;
    if (text === undefined || text.sourceOf(from) < this.start) return;
    const found = foundText(text, from, to, this.#maxMatchBytes);
    if (found.to > this.visibleTo) return;
    // Notify the caller first; detaching can wait.
    this.latch.found(found);
    this.detach();
  }

  /** Searches between two source positions, a stretch that no scan has offered to this watch. */
  search(from: number, to: number): void {
    const text = this.#text;
    if (text === undefined) return;
    const start = text.offsetOf(from);
    const at = text.view(start, text.offsetOf(to)).indexOf(this.bytes);
    if (at < 0) return;
    this.detach();
    this.latch.found(foundText(text, start + at, start + at + this.bytes.length, this.#maxMatchBytes));
  }
}

/** A regex of one wait: how far RE2 has judged its text. */
export class RegexWatch {
  readonly kind = "regex";
  readonly regex: CompiledRegex;
  start: number;
  visibleTo = Infinity;
  readonly latch: Latch;
  /** Text offset from which RE2 must search next; undefined while nothing is due. */
  resume: number | undefined;
  /** No match that begins at or after `resume`'s window ends at or before this; -1 before the first evaluation. */
  judgedTo = -1;
  /** The source position of `judgedTo`, kept because the text there may be gone when it is asked for. */
  judgedSource: number;
  /** A match that rests on the end of output, as text offsets. */
  tentative: { readonly from: number; readonly to: number } | undefined;

  constructor(latch: Latch, regex: CompiledRegex, start: number) {
    this.regex = regex;
    this.latch = latch;
    this.start = start;
    this.judgedSource = start;
  }
}

/** `$ # > %` at the end, blanks allowed; `50%` is progress, not a prompt. */
const PROMPT = /(?:[$#>]|(?<!\d)%)[ \t]*$/;
/** A prompt line is short; only the end of a longer one is read. */
const MAX_LINE_BYTES = 1_024;

/**
 * The prompt heuristic: does the output end in what a shell prints before it reads a command? Best effort by contract
 * (seed 002 §8.3); `predicateTable.ts` lists the known false positives.
 */
export class PromptWatch {
  readonly kind = "prompt";
  start: number;
  visibleTo = Infinity;
  readonly latch: Latch;
  /** Something is typed after the wait is armed: the prompt that is there now does not count. */
  readonly #needsOutput: boolean;
  readonly #armedAt: number;
  readonly #maxMatchBytes: number;

  constructor(latch: Latch, start: number, needsOutput: boolean, maxMatchBytes: number) {
    this.latch = latch;
    this.start = start;
    this.#armedAt = start;
    this.#needsOutput = needsOutput;
    this.#maxMatchBytes = maxMatchBytes;
  }

  /**
   * Checks the last line. While output may still be coming only a shell that has just announced itself is believed; what
   * merely looks like a prompt must also stay the last thing printed. Returns true if it was found, once the wait is notified.
   */
  check(text: PlainText, isQuiet: boolean): boolean {
    if (this.visibleTo !== Infinity) return false;
    const { head } = text;
    const lineFrom = text.lineStart(head, MAX_LINE_BYTES);
    // What is before a gap does not stand at the end of the output.
    const isBounded = this.#needsOutput || this.start > this.#armedAt;
    const from = isBounded ? Math.max(lineFrom, text.offsetOf(this.start)) : lineFrom;
    const line = text.view(from, head).toString("utf8");
    const isAnnounced = text.bracketedPaste === true && (!this.#needsOutput || text.bracketedPasteAt > this.start);
    const isPrompt = PROMPT.test(line) && !text.hasLeftLine;
    // At registration a fresh prompt looks like the one before a command whose echo is on its way: wait for quiet.
    const isSure = isAnnounced && isPrompt && text.bracketedPasteAt > this.start;
    const isLikely = isQuiet && (isPrompt || (isAnnounced && line.trim() !== ""));
    if (!isSure && !isLikely) return false;
    this.latch.found(foundText(text, from, head, this.#maxMatchBytes));
    return true;
  }
}
