/**
 * One reading of a source as plain text, and everything that searches it. It reads from the source's ring by position,
 * in pieces, whenever it is given time: output that left the ring before it was read is a reported gap, and nothing
 * matches across a gap. A pane has one stream for all waits that began `now`; a wait that begins earlier has its own
 * until it has caught up.
 */
import type { Gap } from "../../../protocol/position.ts";
import type { EchoWatch } from "./echoWatch.ts";
import { LiteralSet } from "../literal/literalSet.ts";
import type { PatternWatch } from "../text/patternWatch.ts";
import { PlainText } from "../text/plainText.ts";
import type { CompiledRegex } from "../regex/compiledRegex.ts";
import { RegexMatcher } from "../regex/regexMatcher.ts";
import type { TextPiece } from "../text/textPiece.ts";
import type { TextWatch } from "./textWatch.ts";
import type { ReadTarget } from "../waitHost.ts";

/** Bytes per piece: some 50 µs of work, so that a turn's budget is kept within a few per cent. */
const PIECE_BYTES = 16_384;

export class TextStream {
  readonly target: ReadTarget;
  readonly text: PlainText;
  readonly literals = new LiteralSet();
  readonly #regexes = new Map<CompiledRegex, RegexMatcher>();
  readonly #watches = new Set<TextWatch>();
  readonly #prompts = new Set<TextWatch & { kind: "prompt" }>();
  readonly #echoes = new Set<EchoWatch>();
  readonly #gaps: Gap[] = [];
  readonly #pieces = new Map<string, TextPiece>();
  #cursor: number;

  constructor(target: ReadTarget, from: number) {
    this.target = target;
    this.#cursor = from;
    this.text = new PlainText(from);
  }

  /** The source position up to which text was derived and matched. */
  get cursor(): number {
    return this.#cursor;
  }

  get isUnused(): boolean {
    return this.#watches.size === 0;
  }

  /** An echo is still expected. */
  get hasEcho(): boolean {
    return this.#echoes.size > 0;
  }

  /** Different patterns. */
  get matchers(): number {
    return this.literals.size + this.#regexes.size;
  }

  get watches(): Iterable<TextWatch> {
    return this.#watches;
  }

  /** Whether this stream's text reaches back far enough to take a watch over from another at the same cursor. */
  canAdopt(start: number): boolean {
    const { limits } = this.target.host;
    const reach = Math.max(limits.regexWindowBytes, limits.maxPatternBytes);
    return this.text.head - this.text.base >= reach || this.text.sourceOf(this.text.base) <= start;
  }

  /** Begins to search for it, in all text from its start on that this stream still has. */
  add(entry: TextWatch): void {
    this.#watches.add(entry);
    const { watch } = entry;
    const from = Math.max(this.text.offsetOf(watch.start), this.text.head - this.target.host.limits.regexWindowBytes);
    if (entry.kind === "literal") {
      entry.watch.attach(this.text, this.literals);
    } else if (entry.kind === "prompt") {
      this.#prompts.add(entry);
      this.target.wantsQuiet();
    } else {
      this.#matcherOf(entry.regex).add(entry.watch, this.text.boundary(from));
    }
  }

  /** Hides the echo of what is typed from these watches of one wait. */
  addEcho(echo: EchoWatch): void {
    this.#echoes.add(echo);
  }

  remove(entry: TextWatch): void {
    if (!this.#watches.delete(entry)) return;
    for (const echo of this.#echoes) if (echo.forget(entry)) this.#echoes.delete(echo);
    if (entry.kind === "literal") {
      entry.watch.detach();
    } else if (entry.kind === "prompt") {
      this.#prompts.delete(entry);
    } else {
      const matcher = this.#regexes.get(entry.regex);
      matcher?.remove(entry.watch);
      if (matcher?.isUnused === true) {
        matcher.end();
        this.#regexes.delete(entry.regex);
      }
    }
  }

  /** A gap at the head of the source; applied when the reading gets there. */
  noteGap(gap: Gap): void {
    this.#gaps.push(gap);
  }

  /** Whether RE2 has judged all that this watch can see. */
  isIdle(entry: TextWatch): boolean {
    return entry.kind !== "regex" || (this.#regexes.get(entry.regex)?.isIdle(entry.watch) ?? true);
  }

  /** Derives and matches what has arrived, piece by piece. True: nothing is left. */
  advance(hasTimeLeft: () => boolean): boolean {
    let isFinished = this.#readPiece();
    while (!isFinished && hasTimeLeft()) isFinished = this.#readPiece();
    if (isFinished) for (const entry of this.#prompts) if (entry.watch.check(this.text, false)) this.remove(entry);
    this.flush();
    return isFinished;
  }

  /** Sends to RE2 what is due. */
  flush(): void {
    for (const matcher of this.#regexes.values()) matcher.flush();
    this.#pieces.clear();
  }

  /**
   * The source has been quiet for `quietMs`: what rests on the end of its output may be taken as it is. Returns after
   * how much quiet it should be called again.
   */
  settle(quietMs: number): number | undefined {
    let nextMs: number | undefined;
    for (const echo of this.#echoes) {
      nextMs = echo.settle(quietMs) ?? nextMs;
      this.#show(echo);
    }
    for (const matcher of this.#regexes.values()) matcher.settle();
    for (const entry of this.#prompts) if (entry.watch.check(this.text, true)) this.remove(entry);
    this.flush();
    return nextMs;
  }

  #readPiece(): boolean {
    const [gap] = this.#gaps;
    if (gap !== undefined && this.#cursor >= gap.from) {
      this.#gaps.shift();
      this.#onGap(gap);
      return false;
    }
    // Finding an echo is slow, byte by byte and for each wait by itself.
    const piece = Math.max(512, Math.floor(PIECE_BYTES / (1 + this.#echoes.size)));
    const most = gap === undefined ? piece : Math.min(piece, gap.from - this.#cursor);
    const slice = this.target.source.read(this.#cursor, most);
    if (slice.kind === "end") return gap === undefined;
    if (slice.kind === "gap") this.#onGap(slice.gap);
    else this.#onBytes(slice.bytes, slice.from);
    return false;
  }

  #onBytes(bytes: Uint8Array, source: number): void {
    const end = source + bytes.length;
    for (const echo of this.#echoes) echo.feed(bytes, source);
    const from = this.text.head;
    this.text.append(bytes, source, () => this.#keepFrom());
    this.#cursor = end;
    if (this.text.head > from) this.literals.scan(this.text, from, this.text.head);
    for (const echo of this.#echoes) {
      this.#show(echo);
      if (echo.isHolding) this.target.wantsQuiet();
    }
    if (this.#prompts.size > 0) this.target.wantsQuiet();
  }

  /** Has the echo's watches search what they may see only now. */
  #show(echo: EchoWatch): void {
    echo.show(this.#cursor, (entry, from, to) => this.#search(entry, from, to));
    if (echo.isOver) this.#echoes.delete(echo);
  }

  #search(entry: TextWatch, from: number, to: number): void {
    if (entry.kind === "literal") entry.watch.search(from, to);
    if (entry.kind !== "regex") return;
    const matcher = this.#regexes.get(entry.regex);
    matcher?.search(entry.watch, this.text.offsetOf(from), this.text.offsetOf(to));
  }

  #onGap(gap: Gap): void {
    if (gap.to < this.#cursor) return;
    this.#cursor = gap.to;
    this.text.breakAt(gap.to);
    for (const entry of this.#watches) {
      // The text before the gap is complete, and RE2 may not have seen it yet.
      if (entry.kind === "regex") this.#regexes.get(entry.regex)?.close(entry.watch);
      passGap(entry.watch, gap);
    }
    // Then only: what an echo moves behind the gap would not be told of it.
    for (const echo of this.#echoes) echo.gap(gap.to);
  }

  #keepFrom(): number {
    const { limits } = this.target.host;
    const reach = Math.max(limits.regexWindowBytes, limits.maxPatternBytes) + 4;
    let oldest = this.text.head - reach;
    for (const matcher of this.#regexes.values()) oldest = Math.min(oldest, matcher.keepFrom);
    for (const echo of this.#echoes) oldest = Math.min(oldest, this.text.offsetOf(echo.openFrom));
    return Math.max(oldest, this.text.head - Math.max(limits.regexBacklogBytes, reach));
  }

  #matcherOf(regex: CompiledRegex): RegexMatcher {
    let matcher = this.#regexes.get(regex);
    if (matcher === undefined) {
      matcher = new RegexMatcher(regex, this);
      this.#regexes.set(regex, matcher);
    }
    return matcher;
  }

  /** A copy of a stretch of text, shared by all who ask for the same in one turn. */
  piece(from: number, to: number): TextPiece {
    const key = `${from}:${to}`;
    let piece = this.#pieces.get(key);
    if (piece === undefined) {
      piece = this.text.piece(from, to);
      this.#pieces.set(key, piece);
    }
    return piece;
  }
}

/** Nothing before the gap's end belongs to the watch any longer; a loss is reported to it. */
function passGap(watch: PatternWatch, gap: Gap): void {
  if (watch.start > gap.to || (watch.start === gap.to && gap.from < gap.to)) return;
  watch.latch.missed(gap);
  watch.start = gap.to;
}
