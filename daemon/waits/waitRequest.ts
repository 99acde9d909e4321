/** A request is checked once, when it arrives: a fault is reported at once and nothing is registered. */
import { checkPattern } from "./checkPattern.ts";
import type { Door, Predicate } from "./predicates/predicate.ts";
import { PREDICATES } from "./predicates/predicateTable.ts";
import type { RegexAnalysis } from "./regex/regexAnalysis.ts";
import { invalid, tooMuch } from "./requestErrors.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { WaitFrom, WaitPredicates, WaitRequest } from "./waitTypes.ts";

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

export interface CheckedRequest extends Pick<WaitRequest, "excludeEcho" | "sends" | "screen" | "pane"> {
  /** Must hold; undefined when everything is in `anyOf`. */
  readonly all: CheckedSet | undefined;
  /** One of these must hold as well, if there are any. */
  readonly anyOf: readonly CheckedSet[];
  readonly from: WaitFrom;
  readonly timeoutMs: number;
  readonly regexes: readonly RegexAnalysis[];
}

const ROWS: readonly Predicate[] = PREDICATES;
/** More lines than any ring holds. */
const MAX_TAIL_LINES = 1_000_000;

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function checkRequest(request: WaitRequest, limits: WaitLimits): CheckedRequest {
  const door: Door = { limits, pane: request.pane, checkPattern: (pattern) => checkPattern(pattern, limits) };
  const all = checkSet("", request, door);
  if (request.anyOf?.length === 0) throw invalid("anyOf needs at least one set of predicates");
  const anyOf = (request.anyOf ?? []).map((set, index) => {
    const checked = checkSet(`anyOf[${index}].`, set, door);
    if (checked === undefined) throw invalid(`anyOf[${index}] has no predicate`);
    return checked;
  });
  const sets = all === undefined ? anyOf : [all, ...anyOf];
  if (sets.length === 0) throw invalid(`a wait needs a predicate: ${PREDICATES.map(({ name }) => name).join(", ")}`);
  const count = sets.reduce((sum, set) => sum + set.predicates.length, 0);
  if (count > limits.maxPredicates) throw tooMuch("predicates", count, limits.maxPredicates);
  return {
    all,
    anyOf,
    from: checkFrom(request.from),
    timeoutMs: checkTimeout(request.timeoutMs, limits),
    excludeEcho: request.excludeEcho,
    sends: request.sends,
    screen: request.screen,
    pane: request.pane,
    regexes: sets.flatMap((set) => set.predicates.flatMap(({ row, checked }) => row.regexes?.(checked) ?? [])),
  };
}

function checkSet(prefix: string, set: WaitPredicates, door: Door): CheckedSet | undefined {
  const predicates: CheckedPredicate[] = [];
  // A thousand waits may begin in a turn: no closure and no array for each row.
  for (const row of ROWS) {
    const value: unknown = set[row.field as keyof WaitPredicates];
    if (value === undefined) continue;
    const checked = row.check(value, door);
    if (checked !== undefined) predicates.push({ row, checked });
  }
  return predicates.length === 0 ? undefined : { prefix, predicates };
}

function checkFrom(from: WaitFrom = { kind: "now" }): WaitFrom {
  if (from.kind !== "tail") return from;
  if (Number.isInteger(from.lines) && from.lines >= 1 && from.lines <= MAX_TAIL_LINES) return from;
  throw invalid("tail:N needs a whole number of lines from 1 on");
}

function checkTimeout(timeoutMs: number | undefined, limits: WaitLimits): number {
  const maxMs = limits.maxTimeoutSec * 1_000;
  if (timeoutMs === undefined) return Math.min(limits.defaultTimeoutMs, maxMs);
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0) throw invalid("the timeout is a number above 0");
  if (timeoutMs > maxMs) throw tooMuch("timeout seconds", timeoutMs / 1_000, limits.maxTimeoutSec);
  return timeoutMs;
}
