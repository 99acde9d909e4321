/**
 * What a wait asks for and what it returns: the one contract behind every surface (seed 002 §8.3).
 *
 * Text is plain text: escape sequences dropped, CR LF one LF, invalid bytes U+FFFD (`ansi.ts`). A wait sees only text
 * after its start, and its start counts as the beginning of a line. A predicate that latches stays true; a level must
 * hold when the wait ends.
 */
import type { InferOutput } from "valibot";
import type { ExitStatus } from "../tmux/outputSource.ts";
import { type CheckContext, type Predicate, tooMuch } from "./predicates/predicate.ts";
import { PREDICATES } from "./predicates/predicateTable.ts";
import { analyseRegex, type RegexAnalysis } from "./regex/regexAnalysis.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { ReadRequest } from "./waitReading.ts";
import type { CheckedPattern, WaitPattern } from "./waitPattern.ts";
import type { Position, StreamGap } from "../../protocol/position.ts";
import { encodeUtf8 } from "../../protocol/text/utf8.ts";
import { invalidArgument } from "../../protocol/errors.ts";

/** By field; all that are given must hold together. Each is documented in `predicateTable.ts`. */
type WaitPredicates = {
  readonly [Row in (typeof PREDICATES)[number] as Row["field"]]?: InferOutput<Row["schema"]> | undefined;
};

/** Where a pattern begins to read. Only patterns: `stable` always counts from registration. */
export type WaitFrom =
  | { readonly kind: "now" }
  /** The last lines of retained output; an unfinished line counts as one. */
  | { readonly kind: "tail"; readonly lines: number }
  | { readonly kind: "position"; readonly position: Position };

export interface WaitRequest extends WaitPredicates, ReadRequest {
  /** At least one of these sets must hold as well. */
  readonly anyOf?: readonly WaitPredicates[] | undefined;
  /** Default: now. */
  readonly from?: WaitFrom | undefined;
  /** Default: `defaultTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

export interface WaitMatch {
  /** A name of `PREDICATES`; within an alternative `anyOf[1].pattern`. */
  readonly predicate: string;
  /** The matched text, cut to `maxMatchBytes`. For patterns and prompts. */
  readonly text?: string | undefined;
  /** The screen showed it and the stream did not; it then has no positions. */
  readonly on?: "screen" | undefined;
  /**
   * The first byte of the match's first character, and one past the last byte of its last. Escape sequences inside are
   * included, those around it are not; the LF of a CR LF is both bytes.
   */
  readonly from?: Position | undefined;
  readonly to?: Position | undefined;
}

export interface WaitResult {
  /** The predicates that held when the wait ended. */
  readonly matched: readonly WaitMatch[];
  /** The source's head when it ended. */
  readonly position: Position;
  /** The program's end, when it is known. */
  readonly exit?: ExitStatus | undefined;
  readonly elapsedMs: number;
  /** Output this wait could not see. A pattern never matches across a gap. */
  readonly gaps: readonly StreamGap[];
}

export interface WaitOptions {
  /** Frees the wait at once; the result rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface CheckedPredicate {
  readonly row: Predicate;
  readonly checked: unknown;
}

/** Predicates that must hold together. */
export interface CheckedSet {
  /** Before the names in results: empty, or `anyOf[0].`. */
  readonly prefix: string;
  readonly predicates: readonly CheckedPredicate[];
}

export interface CheckedRequest extends ReadRequest {
  /** Must hold; undefined when everything is in `anyOf`. */
  readonly all: CheckedSet | undefined;
  /** One of these must hold as well, if there are any. */
  readonly anyOf: readonly CheckedSet[];
  /** Both. */
  readonly sets: readonly CheckedSet[];
  readonly from: WaitFrom;
  readonly timeoutMs: number;
  readonly regexes: readonly RegexAnalysis[];
}

const ROWS: readonly Predicate[] = PREDICATES;
/** More lines than any ring holds. */
const MAX_TAIL_LINES = 1_000_000;

/** Once, when it arrives: a fault is reported at once and nothing is registered. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function checkRequest(request: WaitRequest, limits: WaitLimits): CheckedRequest {
  const regexes: RegexAnalysis[] = [];
  const checkedPattern = (pattern: WaitPattern): CheckedPattern => {
    const checked = checkPattern(pattern, limits);
    if (checked.kind === "regex") regexes.push(checked.analysis);
    return checked;
  };
  const { excludeEcho, sends, screen, pane } = request;
  const context = { limits, pane, checkPattern: checkedPattern };
  const all = checkSet("", request, context);
  if (request.anyOf?.length === 0) throw invalidArgument("anyOf needs at least one set of predicates");
  const anyOf = (request.anyOf ?? []).map((set, index) => {
    const checked = checkSet(`anyOf[${index}].`, set, context);
    if (checked === undefined) throw invalidArgument(`anyOf[${index}] has no predicate`);
    return checked;
  });
  const sets = all === undefined ? anyOf : [all, ...anyOf];
  if (sets.length === 0)
    throw invalidArgument(`a wait needs a predicate: ${PREDICATES.map(({ name }) => name).join(", ")}`);
  const count = sets.reduce((sum, set) => sum + set.predicates.length, 0);
  if (count > limits.maxPredicates) throw tooMuch("predicates", count, limits.maxPredicates);
  const from = checkFrom(request.from);
  const timeoutMs = checkTimeout(request.timeoutMs, limits);
  return { all, anyOf, sets, from, timeoutMs, excludeEcho, sends, screen, pane, regexes };
}

function checkSet(prefix: string, set: WaitPredicates, common: Omit<CheckContext, "set">): CheckedSet | undefined {
  const context: CheckContext = { ...common, set };
  const predicates: CheckedPredicate[] = [];
  // A thousand waits may begin in a turn: no closure and no array for each row.
  for (const row of ROWS) {
    const value: unknown = set[row.field as keyof WaitPredicates];
    if (value === undefined) continue;
    const checked = row.check(value, context);
    if (checked !== undefined) predicates.push({ row, checked });
  }
  return predicates.length === 0 ? undefined : { prefix, predicates };
}

function checkFrom(from: WaitFrom = { kind: "now" }): WaitFrom {
  if (from.kind !== "tail") return from;
  if (Number.isInteger(from.lines) && from.lines >= 1 && from.lines <= MAX_TAIL_LINES) return from;
  throw invalidArgument("tail:N needs a whole number of lines from 1 on");
}

function checkTimeout(timeoutMs: number | undefined, limits: WaitLimits): number {
  const maxMs = limits.maxTimeoutSec * 1_000;
  if (timeoutMs === undefined) return Math.min(limits.defaultTimeoutMs, maxMs);
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) throw invalidArgument("the timeout is a number above 0");
  if (timeoutMs > maxMs) throw tooMuch("timeout seconds", timeoutMs / 1_000, limits.maxTimeoutSec);
  return timeoutMs;
}

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function checkPattern(pattern: WaitPattern, limits: WaitLimits): CheckedPattern {
  if (pattern.text === "") throw invalidArgument("the pattern is empty");
  const bytes = encodeUtf8(pattern.text);
  if (bytes.length > limits.maxPatternBytes) throw tooMuch("pattern bytes", bytes.length, limits.maxPatternBytes);
  // Plain text has LF for CR LF; a pattern copied from a terminal means the same.
  if (pattern.kind === "literal")
    return { kind: "literal", bytes: Buffer.from(pattern.text.replaceAll("\r\n", "\n"), "utf8") };
  // Encoded and decoded: a lone surrogate would swallow the next character in re2-wasm.
  const text = Buffer.from(bytes).toString("utf8");
  const { ignoreCase = false, multiline = true, dotAll = false } = pattern;
  return { kind: "regex", analysis: analyseRegex(text, { ignoreCase, multiline, dotAll }, limits) };
}
