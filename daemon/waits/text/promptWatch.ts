/**
 * The prompt heuristic: does the output end in what a shell prints before it reads a command? Best effort by contract
 * (seed 002 §8.3); `predicates/prompt.ts` lists the known false positives.
 */
import { foundText, type PatternWatch, type Latch } from "./patternWatch.ts";
import type { PlainText } from "./plainText.ts";

/** `$ # > %` at the end, blanks allowed; `50%` is progress, not a prompt. */
const PROMPT = /(?:[$#>]|(?<!\d)%)[ \t]*$/;
/** A prompt line is short; only the end of a longer one is read. */
const MAX_LINE_BYTES = 1_024;

export class PromptWatch implements PatternWatch {
  start: number;
  visibleTo = Infinity;
  readonly latch: Latch;
  /** Something is typed after the wait is armed: the prompt that is there now does not count. */
  readonly #needsOutput: boolean;
  readonly #maxMatchBytes: number;

  constructor(latch: Latch, start: number, needsOutput: boolean, maxMatchBytes: number) {
    this.latch = latch;
    this.start = start;
    this.#needsOutput = needsOutput;
    this.#maxMatchBytes = maxMatchBytes;
  }

  /**
   * Checks the last line. While output may still be coming only a shell that has just announced itself is believed; what
   * merely looks like a prompt must also stay the last thing printed. True: found, and the owner knows.
   */
  check(text: PlainText, isQuiet: boolean): boolean {
    if (this.visibleTo !== Infinity) return false;
    const { head } = text;
    const lineFrom = text.lineStart(head, MAX_LINE_BYTES);
    const from = this.#needsOutput ? Math.max(lineFrom, text.offsetOf(this.start)) : lineFrom;
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
