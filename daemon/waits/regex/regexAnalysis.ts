/**
 * What the waits need to know of a regex before RE2 sees it: whether it may be accepted at all, where its matches can lie,
 * and the same pattern in RE2's own spelling. RE2 is linear in the text but not cheap: counted repetitions multiply its
 * program, and a large program over a Unicode class fills the 16 MB heap of the wasm build, which then aborts.
 */
import { AppError } from "../../../protocol/errors.ts";
import { type PlainRegex, plainRegex } from "./plainRegex.ts";
import { RegexParser, type RegexFlags, type RegexNode } from "../../../protocol/text/regexSyntax.ts";
import { requiredLiterals } from "./requiredLiteral.ts";
import type { WaitLimits } from "../waitLimits.ts";

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
  /** A pattern that can be judged without RE2. */
  readonly plain: PlainRegex | undefined;
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
    plain: plainRegex(text, flags),
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
  const translated = text.replace(
    /\\Q[\s\S]*?(?:\\E|$)|\\u\{([0-9A-Fa-f]+)\}|\\u([0-9A-Fa-f]{4})|\\c([A-Z])|\\[\s\S]|\(\?<(?![=!])/g,
    (whole, braced?: string, four?: string, control?: string) => {
      if (braced !== undefined || four !== undefined) return `\\x{${braced ?? four}}`;
      if (control !== undefined) return `\\x{${(control.charCodeAt(0) - 64).toString(16)}}`;
      return whole === "(?<" ? "(?P<" : whole;
    },
  );
  return flags.multiline ? `(?m)${translated}` : translated;
}
