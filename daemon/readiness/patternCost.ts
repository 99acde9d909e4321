/**
 * Whether a pattern written by a user may run on rows drawn by any program. JavaScript's regexes try every
 * way to match, and `(a+)+b` has more ways than there is time. So the ways are counted from the pattern alone, for the
 * longest row there is, and a pattern that has too many, or is not understood, is refused.
 */
import { type RegexNode, RegexParser } from "../../protocol/text/regexSyntax.ts";

/** Characters of a row that patterns see (`MAX_ROW_CHARACTERS`). */
const ROW = 512;
/** One unbounded repetition in a pattern that may begin anywhere; some milliseconds for a whole screen made to hurt. */
const MAX_WAYS = ROW * ROW;

/** Why it is refused; undefined when it may run. */
export function refusedPattern(source: string): string | undefined {
  if (/\\[1-9k]/u.test(source)) return "back references are not taken";
  // What is looked ahead for is tried as a group is, and then once.
  const plain = source.replace(/\(\?<?[=!]/gu, "(?:");
  const tree = new RegexParser(plain).parse({ ignoreCase: false, multiline: false, dotAll: false });
  if (tree.kind === "unknown") return "not understood; use plain characters, classes, groups and repetitions";
  const begins = source.startsWith("^") && tree.kind !== "alternatives" ? 1 : ROW;
  if (waysOf(tree) * begins <= MAX_WAYS) return undefined;
  return "could take too long on a long row; bound repetitions ({1,20}), begin with ^, repeat no group";
}

function waysOf(node: RegexNode): number {
  switch (node.kind) {
    case "sequence":
      return node.nodes.reduce((product, one) => product * waysOf(one), 1);
    case "alternatives":
      return node.nodes.reduce((sum, one) => sum + waysOf(one), 0);
    case "repeat": {
      const times = Math.min(node.max, ROW);
      const inner = waysOf(node.node);
      if (inner === 1) return Math.max(1, times - node.min + 1);
      return Array.from({ length: times }).reduce<number>((product) => Math.min(product * inner, Infinity), 1) + 1;
    }
    case "unknown":
      return Infinity;
    case "empty":
    case "character":
    case "assertion":
      return 1;
  }
}
