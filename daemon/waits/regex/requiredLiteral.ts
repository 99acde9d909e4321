/**
 * What every match of a regex must contain: one of a few texts. They go into the literals of the
 * pane, and RE2 runs only where one was seen (docs/performanceFacts.md: 100 regexes at 485 MB/s instead of 1.6).
 */
import type { RegexNode } from "../../../protocol/text/regexSyntax.ts";

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
export function requiredLiterals(node: RegexNode): readonly string[] | undefined {
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
