/**
 * One reading of a source as plain text, and everything that searches it. It reads from the source's ring by position,
 * in pieces, whenever it is given time: output that left the ring before it was read is a reported gap, and nothing
 * matches across a gap. A pane has one stream for all waits that began `now`; a wait that begins earlier has its own
 * until it has caught up.
 */
import type { Gap } from "../../../protocol/position.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { CompiledRegex } from "../regex/regexEngine.ts";
import type { WaitLimits } from "../waitLimits.ts";
import type { WaitReading } from "../waitReading.ts";
import type { EchoWatch } from "./echoWatch.ts";
import { LiteralSet } from "./literalSet.ts";
import { PlainText } from "./plainText.ts";
import { RegexMatcher } from "./regexMatcher.ts";
import type { PromptWatch, TextWatch } from "./textWatch.ts";

/** Bytes per piece: some 50 µs of work, so that a turn's budget is kept within a few per cent. */
const PIECE_BYTES = 16_384;

interface TextStreamOptions {
  readonly source: OutputSource;
  readonly limits: WaitLimits;
  /** Something rests on the end of output: the owner calls `settle` once that has been quiet for a while. */
  readonly wantsQuiet: () => void;
  /** RE2 has judged something. */
  readonly onJudged: () => void;
}

export class TextStream {
  readonly #options: TextStreamOptions;
  readonly #text: PlainText;
  readonly #literals = new LiteralSet();
  readonly #regexes = new Map<CompiledRegex, RegexMatcher>();
  readonly #readings = new Set<WaitReading>();
  /** Those that were not found yet. */
  readonly #prompts = new Map<PromptWatch, WaitReading>();
  readonly #echoes = new Set<EchoWatch>();
  #cursor: number;

  constructor(options: TextStreamOptions, from: number) {
    this.#options = options;
    this.#cursor = from;
    this.#text = new PlainText(from);
  }

  /** The source position up to which text was derived and matched. */
  get cursor(): number {
    return this.#cursor;
  }

  get isUnused(): boolean {
    return this.#readings.size === 0;
  }

  /** An echo is still expected. */
  get hasEcho(): boolean {
    return this.#echoes.size > 0;
  }

  /** Different patterns. */
  get matchers(): number {
    return this.#literals.size + this.#regexes.size;
  }

  get readings(): Iterable<WaitReading> {
    return this.#readings;
  }

  /** Whether this stream's text reaches back far enough to take a reading over from another at the same cursor. */
  canAdopt({ watches }: WaitReading): boolean {
    const { limits } = this.#options;
    const text = this.#text;
    const reach = Math.max(limits.regexWindowBytes, limits.maxPatternBytes);
    if (text.head - text.base >= reach) return true;
    const oldest = text.sourceOf(text.base);
    return [...watches].every(({ start }) => oldest <= start);
  }

  /** Begins to search for what it watches for, in all text from its start on that this stream still has. */
  add(reading: WaitReading): void {
    this.#readings.add(reading);
    for (const watch of reading.watches) if (watch.latch.match === undefined) this.#add(watch, reading);
    if (reading.echo !== undefined) this.#echoes.add(reading.echo);
  }

  remove(reading: WaitReading): void {
    this.#readings.delete(reading);
    for (const watch of reading.watches) this.#remove(watch);
    if (reading.echo !== undefined) this.#echoes.delete(reading.echo);
  }

  /** Whether RE2 has judged all that its watches can see. */
  isIdle({ watches }: WaitReading): boolean {
    return [...watches].every(
      (watch) => watch.kind !== "regex" || (this.#regexes.get(watch.regex)?.isIdle(watch) ?? true),
    );
  }

  /** Derives and matches what has arrived, piece by piece. True: nothing is left. */
  advance(hasTimeLeft: () => boolean): boolean {
    let isFinished = this.#readPiece();
    while (!isFinished && hasTimeLeft()) isFinished = this.#readPiece();
    if (isFinished) this.#checkPrompts(false);
    this.flush();
    return isFinished;
  }

  /** Sends to RE2 what is due. */
  flush(): void {
    for (const matcher of this.#regexes.values()) matcher.flush();
    this.#text.forgetPieces();
  }

  /**
   * The source has been quiet for `quietMs`: what rests on the end of its output may be taken as it is. Returns after
   * how much quiet it should be called again: Infinity for never.
   */
  settle(quietMs: number): number {
    let nextMs = Infinity;
    for (const echo of this.#echoes) {
      nextMs = Math.min(nextMs, echo.settle(quietMs) ?? Infinity);
      this.#show(echo);
    }
    for (const matcher of this.#regexes.values()) matcher.settle();
    this.#checkPrompts(true);
    this.flush();
    return nextMs;
  }

  #add(watch: TextWatch, reading: WaitReading): void {
    switch (watch.kind) {
      case "literal":
        watch.attach(this.#text, this.#literals);
        this.#literals.watch(watch.bytes, watch);
        return;
      case "prompt":
        this.#prompts.set(watch, reading);
        this.#options.wantsQuiet();
        return;
      case "regex": {
        const oldest = this.#text.head - this.#options.limits.regexWindowBytes;
        const from = this.#text.boundary(Math.max(this.#text.offsetOf(watch.start), oldest));
        this.#matcherOf(watch.regex).add(watch, from);
      }
    }
  }

  #remove(watch: TextWatch): void {
    switch (watch.kind) {
      case "literal":
        watch.detach();
        return;
      case "prompt":
        this.#prompts.delete(watch);
        return;
      case "regex":
        if (this.#regexes.get(watch.regex)?.remove(watch) === true) this.#regexes.delete(watch.regex);
    }
  }

  #checkPrompts(isQuiet: boolean): void {
    for (const [watch, reading] of this.#prompts) {
      if (!watch.check(this.#text, isQuiet)) continue;
      this.#prompts.delete(watch);
      reading.watches.delete(watch);
      reading.echo?.forget(watch);
      if (reading.echo?.isOver === true) this.#echoes.delete(reading.echo);
    }
  }

  #readPiece(): boolean {
    // Finding an echo is slow, byte by byte and for each wait by itself.
    const piece = Math.max(512, Math.floor(PIECE_BYTES / (1 + this.#echoes.size)));
    const slice = this.#options.source.read(this.#cursor, piece);
    if (slice.kind === "end") return true;
    if (slice.kind === "gap") this.#onGap(slice.gap);
    else this.#onBytes(slice.bytes, slice.from);
    return false;
  }

  #onBytes(bytes: Uint8Array, source: number): void {
    const end = source + bytes.length;
    for (const echo of this.#echoes) echo.feed(bytes, source);
    const from = this.#text.head;
    this.#text.append(bytes, source, () => this.#keepFrom());
    this.#cursor = end;
    if (this.#text.head > from) this.#literals.scan(this.#text, from, this.#text.head);
    for (const echo of this.#echoes) {
      this.#show(echo);
      if (echo.isHolding) this.#options.wantsQuiet();
    }
    if (this.#prompts.size > 0) this.#options.wantsQuiet();
  }

  /** Has the echo's watches search what they may see only now. */
  #show(echo: EchoWatch): void {
    echo.show(this.#cursor, (watch, from, to) => {
      if (watch.kind === "literal") watch.search(from, to);
      if (watch.kind !== "regex") return;
      this.#regexes.get(watch.regex)?.search(watch, this.#text.offsetOf(from), this.#text.offsetOf(to));
    });
    if (echo.isOver) this.#echoes.delete(echo);
  }

  #onGap(gap: Gap): void {
    this.#cursor = gap.to;
    this.#text.breakAt(gap.to);
    for (const { watches, moment } of this.#readings) {
      const lost = { ...gap, from: Math.max(gap.from, moment.start) };
      for (const watch of watches) {
        // The text before the gap is complete, and RE2 may not have seen it yet.
        if (watch.kind === "regex") this.#regexes.get(watch.regex)?.close(watch);
        passGap(watch, lost);
      }
    }
    // Only then: a watch that its echo moves past the gap would not get it declared.
    for (const echo of this.#echoes) echo.gap(gap.to);
  }

  #keepFrom(): number {
    const { limits } = this.#options;
    const reach = Math.max(limits.regexWindowBytes, limits.maxPatternBytes) + 4;
    let oldest = this.#text.head - reach;
    for (const matcher of this.#regexes.values()) oldest = Math.min(oldest, matcher.keepFrom);
    for (const echo of this.#echoes) oldest = Math.min(oldest, this.#text.offsetOf(echo.openFrom));
    return Math.max(oldest, this.#text.head - Math.max(limits.regexBacklogBytes, reach));
  }

  #matcherOf(regex: CompiledRegex): RegexMatcher {
    let matcher = this.#regexes.get(regex);
    if (matcher === undefined) {
      const { limits, wantsQuiet, onJudged } = this.#options;
      matcher = new RegexMatcher({ regex, text: this.#text, literals: this.#literals, limits, wantsQuiet, onJudged });
      this.#regexes.set(regex, matcher);
    }
    return matcher;
  }
}

/** Nothing before the gap's end belongs to the watch any longer; a loss is reported to it. */
function passGap(watch: TextWatch, gap: Gap): void {
  if (watch.start >= gap.to) return;
  watch.latch.missed(gap);
  watch.start = gap.to;
}
