/** A request checked once, at the door: what is wrong is said at once and nothing is registered for it. */
import { AppError } from "../../protocol/errors.ts";
import { encodeUtf8 } from "../../protocol/text/utf8.ts";
import { analyseRegex, type RegexAnalysis } from "./regexAnalysis.ts";
import type { ScreenView } from "./screenView.ts";
import type { WaitLimits } from "./waitLimits.ts";
import type { ExternalPredicate, WaitFrom, WaitPattern, WaitPredicates, WaitRequest } from "./waitTypes.ts";

export type CheckedPattern =
  | { readonly kind: "literal"; readonly bytes: Buffer }
  | { readonly kind: "regex"; readonly analysis: RegexAnalysis };

/** Predicates that must hold together. */
export interface CheckedSet {
  /** Before the names in results: empty, or `anyOf[0].`. */
  readonly prefix: string;
  readonly pattern: CheckedPattern | undefined;
  readonly stableMs: number | undefined;
  readonly exit: boolean;
  readonly prompt: boolean;
  readonly gone: boolean;
  readonly external: readonly ExternalPredicate[];
}

export interface CheckedRequest {
  /** Must hold; undefined when everything is in `anyOf`. */
  readonly all: CheckedSet | undefined;
  /** One of these must hold as well, if there are any. */
  readonly anyOf: readonly CheckedSet[];
  readonly from: WaitFrom;
  readonly timeoutMs: number;
  readonly excludeEcho: Uint8Array | undefined;
  readonly screen: ScreenView | undefined;
  readonly regexes: readonly RegexAnalysis[];
}

const PREDICATES = new Set(["pattern", "stableSec", "exit", "prompt", "gone", "external"]);
const REQUEST = new Set([...PREDICATES, "anyOf", "from", "timeoutMs", "excludeEcho", "screen"]);
const PATTERN = new Set(["kind", "text", "ignoreCase", "multiline", "dotAll"]);
/** More lines than any ring holds. */
const MAX_TAIL_LINES = 1_000_000;

const invalid = (message: string, details?: Readonly<Record<string, unknown>>): AppError =>
  new AppError("INVALID_ARGUMENT", message, { details });

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function checkRequest(request: WaitRequest, limits: WaitLimits): CheckedRequest {
  refuseUnknown(request, REQUEST, "predicate or option");
  const all = checkSet("", request, limits);
  if (request.anyOf?.length === 0) throw invalid("anyOf needs at least one set of predicates");
  const anyOf = (request.anyOf ?? []).map((set, index) => {
    refuseUnknown(set, PREDICATES, "predicate");
    const checked = checkSet(`anyOf[${index}].`, set, limits);
    if (checked === undefined) throw invalid(`anyOf[${index}] has no predicate`);
    return checked;
  });
  const sets = all === undefined ? anyOf : [all, ...anyOf];
  if (sets.length === 0) throw invalid("a wait needs a predicate: pattern, stable, exit, prompt, gone");
  const count = sets.reduce((sum, set) => sum + countOf(set), 0);
  if (count > limits.maxPredicates) throw tooMuch("predicates", count, limits.maxPredicates);
  return {
    all,
    anyOf,
    from: checkFrom(request.from),
    timeoutMs: checkTimeout(request.timeoutMs, limits),
    excludeEcho: request.excludeEcho,
    screen: request.screen,
    regexes: sets.flatMap((set) => (set.pattern?.kind === "regex" ? [set.pattern.analysis] : [])),
  };
}

/** @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT */
export function checkPattern(pattern: WaitPattern, limits: WaitLimits): CheckedPattern {
  refuseUnknown(pattern, PATTERN, "pattern option");
  if (typeof pattern.text !== "string" || pattern.text === "") throw invalid("the pattern is empty");
  const bytes = encodeUtf8(pattern.text);
  if (bytes.length > limits.maxPatternBytes) throw tooMuch("pattern bytes", bytes.length, limits.maxPatternBytes);
  // Plain text has LF for CR LF; a pattern copied from a terminal means the same.
  if (pattern.kind === "literal")
    return { kind: "literal", bytes: Buffer.from(pattern.text.replaceAll("\r\n", "\n"), "utf8") };
  refuseKind(pattern.kind === "regex", "a pattern is literal or regex");
  // Encoded and decoded: a lone surrogate would swallow the next character in re2-wasm.
  const text = Buffer.from(bytes).toString("utf8");
  const { ignoreCase = false, multiline = true, dotAll = false } = pattern;
  return { kind: "regex", analysis: analyseRegex(text, { ignoreCase, multiline, dotAll }, limits) };
}

function checkSet(prefix: string, set: WaitPredicates, limits: WaitLimits): CheckedSet | undefined {
  const { stableSec } = set;
  if (stableSec !== undefined && !(Number.isFinite(stableSec) && stableSec > 0)) {
    throw invalid("stable is a number of seconds above 0");
  }
  if (stableSec !== undefined && stableSec > limits.maxTimeoutSec)
    throw tooMuch("stable seconds", stableSec, limits.maxTimeoutSec);
  const checked: CheckedSet = {
    prefix,
    pattern: set.pattern === undefined ? undefined : checkPattern(set.pattern, limits),
    stableMs: stableSec === undefined ? undefined : stableSec * 1_000,
    exit: set.exit === true,
    prompt: set.prompt === true,
    gone: set.gone === true,
    external: set.external ?? [],
  };
  return countOf(checked) === 0 ? undefined : checked;
}

const countOf = (set: CheckedSet): number =>
  Number(set.pattern !== undefined) +
  Number(set.stableMs !== undefined) +
  Number(set.exit) +
  Number(set.prompt) +
  Number(set.gone) +
  set.external.length;

function checkFrom(from: WaitFrom | undefined): WaitFrom {
  if (from === undefined) return { kind: "now" };
  if (from.kind === "now" || from.kind === "position") return from;
  refuseKind(from.kind === "tail", "from is now, tail:N or a position");
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

/** For what the types rule out and a caller without types may still send. */
function refuseKind(isKnown: boolean, message: string): void {
  if (!isKnown) throw invalid(message);
}

function refuseUnknown(given: object, known: ReadonlySet<string>, what: string): void {
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined && !known.has(key)) throw invalid(`unknown ${what}: ${key}`, { unknown: key });
  }
}

const tooMuch = (what: string, value: number, max: number): AppError =>
  new AppError("RESOURCE_LIMIT", `too much: ${what} ${value} (limit ${max})`, { details: { limit: what, value, max } });
