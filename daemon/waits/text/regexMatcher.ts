/**
 * One regex over one text. It says which stretch of text RE2 must see next and keeps one job under way; between jobs
 * text may pile up, and what falls out of the backlog is reported as a gap. With required literals nothing is sent
 * until one of them turns up. Matches do not depend on how output was cut into chunks: a stretch begins a whole window
 * (or at the line) before what was judged, the character before it is sent as context, and a match that rests on the
 * end of unfinished output waits for more output or for quiet.
 */
import type { LiteralSet, LiteralWatcher } from "./literalSet.ts";
import { type CompiledRegex, MAX_JOB_BYTES, type RegexOutcome } from "../regex/regexEngine.ts";
import { foundText, type RegexWatch } from "./textWatch.ts";
import type { PlacedText, PlainText, TextPiece } from "./plainText.ts";
import type { WaitLimits } from "../waitLimits.ts";
import type { GapReason } from "../../../protocol/position.ts";
import { isContinuation, nextBoundary } from "../../../protocol/text/utf8.ts";

const EVICTED: GapReason = "evicted";

interface Stretch {
  readonly from: number;
  readonly to: number;
  readonly hasContext: boolean;
  readonly watches: RegexWatch[];
}

interface RegexMatcherOptions {
  readonly regex: CompiledRegex;
  readonly text: PlainText;
  readonly literals: LiteralSet;
  readonly limits: WaitLimits;
  /** A match rests on the end of output: the owner calls `settle` when that is quiet. */
  readonly wantsQuiet: () => void;
  /** RE2 has judged something. */
  readonly onJudged: () => void;
}

export class RegexMatcher implements LiteralWatcher {
  readonly #options: RegexMatcherOptions;
  readonly #text: PlainText;
  readonly #watches = new Set<RegexWatch>();
  readonly #required: readonly Buffer[];
  #lastHitEnd = 0;
  /** The earliest of the hits for which every watch resumes. */
  #firstHit = Infinity;
  #jobs = 0;

  constructor(options: RegexMatcherOptions) {
    const { regex, text, literals } = options;
    this.#options = options;
    this.#text = text;
    this.#required = (regex.analysis.required ?? []).map((literal) => Buffer.from(literal, "utf8"));
    for (const literal of this.#required) literals.watch(literal, this);
  }

  /** @param from the text offset from which nothing was judged for this watch */
  add(watch: RegexWatch, from: number): void {
    const { head } = this.#text;
    this.#watches.add(watch);
    this.#firstHit = Infinity;
    watch.judgedTo = -1;
    watch.resume = undefined;
    watch.tentative = undefined;
    // With no text yet, the required literals will say when to begin.
    if (this.#required.length > 0 && from >= head) return;
    watch.resume = from;
    this.#lastHitEnd = Math.max(this.#lastHitEnd, head);
  }

  /** True when no watch is left: the matcher is over. */
  remove(watch: RegexWatch): boolean {
    this.#watches.delete(watch);
    if (this.#watches.size > 0) return false;
    for (const literal of this.#required) this.#options.literals.unwatch(literal, this);
    return true;
  }

  literalFound(from: number, to: number): void {
    // Literals are searched one after the other: what stands earlier in the text may be found later.
    this.#lastHitEnd = Math.max(this.#lastHitEnd, to);
    if (from >= this.#firstHit) return;
    this.#firstHit = from;
    const back = this.#back(from);
    for (const watch of this.#watches) watch.resume = Math.min(watch.resume ?? back, back);
  }

  /** Nothing is under way and nothing asks to be: what the watch has seen, RE2 has judged. */
  isIdle(watch: RegexWatch): boolean {
    return !this.#watches.has(watch) || (this.#jobs === 0 && !this.#isDue(watch));
  }

  /** The oldest text offset that is still needed. */
  get keepFrom(): number {
    let oldest = Infinity;
    // Four bytes more: the character before it is context.
    for (const watch of this.#watches) if (watch.resume !== undefined) oldest = Math.min(oldest, watch.resume - 4);
    return oldest;
  }

  /** Sends what is due, unless a job is under way. */
  flush(): void {
    if (this.#jobs > 0) return;
    const stretches = new Map<string, Stretch>();
    for (const watch of this.#watches) {
      if (!this.#isDue(watch)) continue;
      const { from, to, hasContext } = this.#stretchOf(watch);
      const key = `${from}:${to}:${hasContext}`;
      const stretch = stretches.get(key);
      if (stretch === undefined) stretches.set(key, { from, to, hasContext, watches: [watch] });
      else stretch.watches.push(watch);
    }
    for (const stretch of stretches.values()) {
      const { from, to, hasContext } = stretch;
      this.#run(from, to, hasContext, (piece, outcome) => this.#onOutcome(stretch, piece, outcome));
    }
  }

  /** The stretch so far ends here, at a gap: what RE2 has not judged of it is searched by itself. */
  close(watch: RegexWatch): void {
    // What rests on the end of the output there may have gone on in what is missing.
    watch.tentative = undefined;
    if (!this.#isDue(watch)) return;
    const { from, hasContext } = this.#stretchOf(watch);
    this.search(watch, from, this.#endFor(watch), hasContext);
  }

  /** Searches a stretch by itself, apart from what is judged in order: one that an echo has closed. */
  search(watch: RegexWatch, from: number, to: number, hasContext = false): void {
    if (to <= from || !this.#watches.has(watch)) return;
    const isLast = to - from <= MAX_JOB_BYTES;
    const end = isLast ? to : this.#text.boundary(from + MAX_JOB_BYTES);
    this.#run(from, end, hasContext, (piece, outcome) => {
      if (outcome.kind !== "match" || !this.#watches.has(watch)) return;
      const match = placeOf(piece, outcome);
      // The end of the stretch is not the end of the output: no match may rest on it.
      if (match.to < end || !this.#options.regex.analysis.restsOnEnd) this.#match(watch, piece, match.from, match.to);
    });
    if (!isLast) this.search(watch, this.#back(end), to, true);
  }

  /** Output is quiet: what rests on its end may be taken as it is. */
  settle(): void {
    for (const watch of this.#watches) {
      const { tentative } = watch;
      if (tentative === undefined || tentative.to !== this.#text.head || watch.visibleTo !== Infinity) continue;
      this.#match(watch, this.#text, tentative.from, tentative.to);
    }
  }

  #isDue(watch: RegexWatch): boolean {
    return watch.resume !== undefined && this.#endFor(watch) > watch.judgedTo;
  }

  #endFor(watch: RegexWatch): number {
    return this.#text.offsetOf(watch.visibleTo);
  }

  #stretchOf(watch: RegexWatch): Omit<Stretch, "watches"> {
    const text = this.#text;
    this.#declareLoss(watch);
    const begin = text.offsetOf(watch.start);
    const from = Math.max(begin, watch.resume ?? 0);
    let to = Math.max(from, this.#endFor(watch));
    if (to - from > MAX_JOB_BYTES) to = text.boundary(from + MAX_JOB_BYTES);
    return { from, to, hasContext: from > begin };
  }

  /** Reports what left the backlog before RE2 saw it. */
  #declareLoss(watch: RegexWatch): void {
    const text = this.#text;
    if (Math.max(watch.judgedTo, watch.resume ?? 0) >= text.base) return;
    const lostTo = text.sourceOf(text.base);
    if (watch.start >= lostTo) return;
    watch.latch.missed({ from: Math.max(watch.start, watch.judgedSource), to: lostTo, reason: EVICTED });
    watch.start = Math.max(watch.start, lostTo);
  }

  /** @param hasContext the character before `from` is sent as well, and no match begins at it */
  #run(from: number, to: number, hasContext: boolean, done: (piece: TextPiece, outcome: RegexOutcome) => void): void {
    const text = this.#text;
    let begin = from;
    if (hasContext)
      do begin--;
      while (isContinuation(text.byteAt(begin)));
    const piece = text.piece(begin, to);
    this.#jobs++;
    this.#options.regex.run(piece.bytes, hasContext ? 1 : 0, (outcome) => {
      this.#jobs--;
      done(piece, outcome);
      this.flush();
      this.#options.onJudged();
    });
  }

  #onOutcome(stretch: Stretch, piece: TextPiece, outcome: RegexOutcome): void {
    for (const watch of stretch.watches) {
      if (!this.#watches.has(watch)) continue;
      if (outcome.kind === "failed") {
        this.#watches.delete(watch);
        watch.latch.failed(outcome.error);
        continue;
      }
      watch.judgedTo = stretch.to;
      watch.judgedSource = piece.sourceOf(stretch.to);
      watch.tentative = undefined;
      if (outcome.kind === "match") this.#onMatch(watch, stretch, piece, outcome);
      if (this.#watches.has(watch)) this.#goOn(watch, stretch.to);
    }
  }

  #onMatch(watch: RegexWatch, stretch: Stretch, piece: TextPiece, outcome: FoundByRe2): void {
    const { from, to } = placeOf(piece, outcome);
    // The watch has moved on meanwhile, past an echo or a gap.
    if (piece.sourceOf(from) < watch.start) return;
    if (this.#options.regex.analysis.restsOnEnd && to === stretch.to) {
      watch.tentative = { from, to };
      this.#options.wantsQuiet();
      return;
    }
    this.#match(watch, piece, from, to);
  }

  #match(watch: RegexWatch, text: PlacedText, from: number, to: number): void {
    this.#watches.delete(watch);
    watch.latch.found(foundText(text, from, to, this.#options.limits.maxMatchBytes));
  }

  /** Where to search from next: what ends at or before `judgedTo` has been judged. */
  #goOn(watch: RegexWatch, judgedTo: number): void {
    // Before `resume` moves to what is still here.
    if (this.#required.length === 0 || this.#lastHitEnd > judgedTo) this.#declareLoss(watch);
    const next = this.#back(judgedTo);
    const mayStillEnd = this.#required.length === 0 || this.#lastHitEnd > next || judgedTo < this.#endFor(watch);
    this.#firstHit = Infinity;
    watch.resume = mayStillEnd || watch.tentative !== undefined ? Math.max(watch.resume ?? 0, next) : undefined;
  }

  /** The earliest place where a match that reaches past `offset` can begin. */
  #back(offset: number): number {
    const text = this.#text;
    const { regexWindowBytes } = this.#options.limits;
    if (this.#options.regex.analysis.isSingleLine) return text.lineStart(offset, regexWindowBytes);
    return text.boundary(Math.max(text.base, offset - regexWindowBytes));
  }
}

type FoundByRe2 = Extract<RegexOutcome, { kind: "match" }>;

/** The text offsets of a match, whose index counts characters. */
function placeOf({ from, bytes }: TextPiece, match: FoundByRe2): { readonly from: number; readonly to: number } {
  let at = 0;
  for (let left = match.index; left > 0 && at < bytes.length; left--) at = nextBoundary(bytes, at + 1);
  return { from: from + at, to: from + at + Buffer.byteLength(match.text) };
}
