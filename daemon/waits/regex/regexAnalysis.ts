/**
 * What the waits need to know of a regex before RE2 sees it: whether it may be accepted at all, where its matches can lie,
 * and the same pattern in RE2's own spelling. RE2 is linear in the text but not cheap: counted repetitions multiply its
 * program, and a large program over a Unicode class fills the 16 MB heap of the wasm build, which then aborts.
 */
import { type ShortRegex, shortRegex } from "./shortRegex.ts";
import type { WaitLimits } from "../waitLimits.ts";
import { AppError } from "../../../protocol/errors.ts";
import { type RegexFlags, type RegexNode, RegexParser } from "../../../protocol/text/regexSyntax.ts";

export interface RegexAnalysis {
  /** What RE2 is given. */
  readonly re2Pattern: string;
  readonly flags: RegexFlags;
  /** One of these is in every match; undefined: RE2 must see all text. */
  readonly required: readonly string[] | undefined;
  /** No match contains a line end, so lines can be searched one by one. */
  readonly isSingleLine: boolean;
  /** What follows a match decides whether it is one. */
  readonly restsOnEnd: boolean;
  /** Judges text without RE2 that is short or has short lines. */
  readonly short: ShortRegex | undefined;
}

/** @throws AppError RESOURCE_LIMIT when it could cost too much, INVALID_ARGUMENT when it splits characters. */
export function analyseRegex(text: string, flags: RegexFlags, limits: WaitLimits): RegexAnalysis {
  const tree = new RegexParser(text).parse(flags);
  checkCost(text, tree, limits);
  if (/(?:^|[^\\])(?:\\\\)*\\C/.test(text)) {
    throw new AppError("INVALID_ARGUMENT", "the regex uses \\C, which matches part of a character; use . instead", {
      details: { engine: "re2", reason: "\\C is not supported" },
    });
  }
  const restsOnEnd = some(tree, (node) => node.kind === "unknown" || (node.kind === "assertion" && node.restsOnEnd));
  const crosses = some(tree, (node) => node.kind === "unknown" || (node.kind === "character" && node.hasNewline));
  return {
    re2Pattern: toRe2(text, flags),
    flags,
    required: requiredLiterals(tree),
    isSingleLine: !crosses,
    restsOnEnd,
    short: shortRegex(text, tree, !crosses),
  };
}

function checkCost(text: string, tree: RegexNode, limits: WaitLimits): void {
  const product = tree.kind === "unknown" ? productOfText(text) : productOf(tree);
  if (product > limits.maxRegexRepetition) {
    throw tooCostly("repeats", product, limits.maxRegexRepetition, "counted repetitions multiply to too much");
  }
  // RE2 refuses what the parser does not know, nearly always; its length bounds what is left.
  const cost = tree.kind === "unknown" ? text.length * product : costOf(tree);
  if (cost > limits.maxRegexCost) throw tooCostly("cost", cost, limits.maxRegexCost, "the regex is too large");
}

const tooCostly = (what: string, value: number, limit: number, message: string): AppError =>
  new AppError("RESOURCE_LIMIT", `${message}; write it with * or + or in smaller parts`, {
    details: { engine: "re2", limit: `regex ${what}`, value, max: limit },
  });

/** The largest product of nested {n,m}. Unbounded repetition is a loop and counts by its minimum. */
function productOf(node: RegexNode): number {
  if (node.kind === "repeat") {
    const count = node.max === Infinity ? node.min : node.max;
    return Math.max(1, count) * productOf(node.node);
  }
  if (node.kind === "sequence" || node.kind === "alternatives") return Math.max(1, ...node.nodes.map(productOf));
  return 1;
}

const productOfText = (text: string): number => {
  let product = 1;
  for (const match of text.matchAll(/\{(\d{1,6})(?:,(\d{0,6}))?\}/g)) {
    product *= Math.max(1, Number(match[1]), Number(match[2] ?? 0));
  }
  return product;
};

function costOf(node: RegexNode): number {
  switch (node.kind) {
    case "character":
      return node.weight;
    case "sequence":
    case "alternatives":
      return 1 + node.nodes.reduce((sum, one) => sum + costOf(one), 0);
    case "repeat":
      return 1 + Math.max(1, node.max === Infinity ? node.min : node.max) * costOf(node.node);
    case "empty":
    case "assertion":
    case "unknown":
      return 1;
  }
}

function some(node: RegexNode, holds: (node: RegexNode) => boolean): boolean {
  if (holds(node)) return true;
  if (node.kind === "repeat") return some(node.node, holds);
  return (node.kind === "sequence" || node.kind === "alternatives") && node.nodes.some((one) => some(one, holds));
}

/** JavaScript's spellings that RE2 has under another name. Inside \Q..\E nothing is touched. */
function toRe2(text: string, flags: RegexFlags): string {
  let isClass = false;
  const translated = text.replace(
    /\\Q[\s\S]*?(?:\\E|$)|\\u\{([0-9A-Fa-f]+)\}|\\u([0-9A-Fa-f]{4})|\\c([A-Z])|\\[\s\S]|\[:\^?\w+:\]|\[\^?\]?|\]|\(\?<(?=\w+>)/g,
    (whole, braced?: string, four?: string, control?: string) => {
      if (braced !== undefined || four !== undefined) return `\\x{${braced ?? four}}`;
      if (control !== undefined) return `\\x{${(control.charCodeAt(0) - 64).toString(16)}}`;
      // A ] right after the [ is one of the class's characters, and [ inside a class is, too.
      if (/^\[(?!:)/.test(whole)) isClass = !isClass || !whole.endsWith("]");
      else if (whole === "]") isClass = false;
      return whole === "(?<" && !isClass ? "(?P<" : whole;
    },
  );
  return flags.multiline ? `(?m)${translated}` : translated;
}

/**
 * What every match of a regex must contain: one of a few texts. They go into the literals of the
 * pane, and RE2 runs only where one was seen (docs/performanceFacts.md: 100 regexes at 485 MB/s instead of 1.6).
 */

interface Known {
  /** Everything the node can match, when that is a short list. */
  readonly exact: readonly string[] | undefined;
  /** One of these is in every match; undefined when nothing is known. */
  readonly needed: readonly string[] | undefined;
}

/** Texts in one list: each is a literal of its own in the pane's automaton. */
const MAX_TEXTS = 12;
const MAX_TEXT_LENGTH = 64;
const NOTHING: Known = { exact: undefined, needed: undefined };

/** Texts of which every match contains one; undefined when none is worth searching for. */
function requiredLiterals(node: RegexNode): readonly string[] | undefined {
  const known = analyse(node);
  const best = better(known.exact, known.needed);
  return best !== undefined && score(best) > 0 ? [...new Set(best)] : undefined;
}

/** The shortest text counts: it is the one that turns up by chance. One letter or blank alone is no help. */
function score(texts: readonly string[] | undefined): number {
  if (texts === undefined || texts.length === 0) return 0;
  const shortest = Math.min(...texts.map((text) => text.length));
  const isCommon = texts.some((text) => text.length === 1 && /[\p{L}\p{N}\s]/u.test(text));
  return isCommon ? 0 : shortest;
}

const better = (a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined =>
  score(a) >= score(b) ? a : b;

function analyse(node: RegexNode): Known {
  switch (node.kind) {
    case "empty":
    case "assertion":
      return { exact: [""], needed: undefined };
    case "character":
      return { exact: node.characters, needed: node.characters };
    case "sequence":
      return analyseSequence(node.nodes);
    case "alternatives":
      return analyseAlternatives(node.nodes.map(analyse));
    case "repeat":
      return analyseRepeat(node);
    case "unknown":
      return NOTHING;
  }
}

function analyseSequence(nodes: readonly RegexNode[]): Known {
  /** What the run up to here matches exactly; a new run begins where that is unknown or too long a list. */
  let run: readonly string[] = [""];
  let isExact = true;
  let needed: readonly string[] | undefined;
  for (const node of nodes) {
    const known = analyse(node);
    const joined = known.exact === undefined ? undefined : joinAll(run, known.exact);
    if (joined !== undefined) {
      run = joined;
      continue;
    }
    isExact = false;
    needed = better(better(needed, run), known.needed);
    run = known.exact ?? [""];
  }
  return { exact: isExact ? run : undefined, needed: better(needed, run) };
}

function joinAll(heads: readonly string[], tails: readonly string[]): readonly string[] | undefined {
  if (heads.length * tails.length > MAX_TEXTS) return undefined;
  const all = heads.flatMap((head) => tails.map((tail) => head + tail));
  return all.some((text) => text.length > MAX_TEXT_LENGTH) ? undefined : all;
}

/** A branch that is too common to search for may still be short enough to be part of a longer text: `(a|b)cd`. */
function analyseAlternatives(branches: readonly Known[]): Known {
  const wanted = branches.map(({ exact, needed }) => {
    const best = better(exact, needed);
    return score(best) > 0 ? best : undefined;
  });
  return { exact: together(branches.map(({ exact }) => exact)), needed: together(wanted) };
}

/** All of them in one list; undefined where one is missing or they are too many. */
function together(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const known = lists.filter((list) => list !== undefined);
  const all = known.flat();
  return known.length === lists.length && all.length <= MAX_TEXTS ? all : undefined;
}

function analyseRepeat(node: RegexNode & { kind: "repeat" }): Known {
  if (node.max === 0) return { exact: [""], needed: undefined };
  const known = analyse(node.node);
  if (node.min === 1 && node.max === 1) return known;
  if (node.min === 0) {
    const isShort = node.max === 1 && known.exact !== undefined && known.exact.length < MAX_TEXTS;
    return { exact: isShort ? ["", ...(known.exact ?? [])] : undefined, needed: undefined };
  }
  return { exact: undefined, needed: better(known.exact, known.needed) };
}

/**
 * Why RE2 refuses a regex, in terms known from JavaScript or Perl, and what to write instead. RE2's own messages are
 * its parser's (`invalid perl operator: (?=`); one that is not known here is passed on unchanged.
 */

/** `pattern` as RE2 was given it, `reason` as RE2 said it. */
export function refusalOf(pattern: string, reason: string): string {
  for (const [words, say] of REFUSALS) {
    const found = words.exec(reason);
    if (found !== null) return say(found[1] ?? "", pattern);
  }
  return reason;
}

type Say = (part: string, pattern: string) => string;

const REFUSALS: readonly (readonly [RegExp, Say])[] = [
  [
    /^invalid perl operator: \(\?=/,
    () => "look-ahead (?=…) is not supported; match what follows as a part of the pattern",
  ],
  [
    /^invalid perl operator: \(\?!/,
    () =>
      "negative look-ahead (?!…) is not supported; write what may stand there, such as [^x], or wait for other text",
  ],
  [/^invalid perl operator: \(\?</, lookBehind],
  [/^invalid perl operator: \(\?>/, () => "atomic groups (?>…) are not supported; write (?:…), RE2 never backtracks"],
  [
    /^invalid escape sequence: \\([1-9])/,
    (digit) => `back-references (\\${digit}) are not supported; write the text itself`,
  ],
  [/^invalid escape sequence: \\k/, () => "back-references (\\k<…>) are not supported; write the text itself"],
  [
    /^invalid escape sequence: (\\\S*)/,
    (escape) => `${escape} is no escape sequence; a letter that stands for itself has no \\`,
  ],
  [/^bad repetition operator: (.*)/, (operator) => `${operator} is not supported; repeat once, with * + ? or {n,m}`],
  [
    /^invalid repetition size: (.*)/,
    (size) => `the repetition ${size} is not supported; at most 1000, the smaller number first`,
  ],
  [/^invalid character class range: (\\[pP]\S*)/, unknownProperty],
  [/^invalid character class range: (.*)/, (range) => `the range ${range} runs backwards`],
  [
    /^missing \]: (\[\^?\])/,
    (empty) =>
      `${empty} is not supported; ${empty === "[]" ? "it would match nothing" : "write [\\s\\S] for any character"}`,
  ],
  [/^missing \]/, () => "a [ has no ]; to match the character itself write \\["],
  [/^missing \)/, () => "a ( has no ); to match the character itself write \\("],
  [/^unexpected \)/, () => "a ) has no (; to match the character itself write \\)"],
  [
    /^no argument for repetition operator: (.*)/,
    (operator) => `nothing stands before ${operator}; to match it write \\${operator}`,
  ],
];

/** RE2's reason is the same for both kinds. */
function lookBehind(_part: string, pattern: string): string {
  const kind = /\(\?<=/.test(pattern) ? "look-behind (?<=…)" : "negative look-behind (?<!…)";
  return `${kind} is not supported; match what comes before as a part of the pattern`;
}

function unknownProperty(property: string): string {
  const script = /^\\([pP])\{[\w]+=([\w]+)\}/.exec(property);
  if (script !== null) return `${property} is not supported; write \\${script[1]}{${script[2]}}`;
  return `${property} is no property that RE2 knows; it knows categories such as \\p{L} and scripts such as \\p{Greek}`;
}
