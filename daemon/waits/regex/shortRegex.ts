/**
 * Regexes that this thread judges itself, as JavaScript's own, on text that is short enough: most that people wait for,
 * on a line or a few. The worker's two wake-ups take half a millisecond or more. JavaScript backtracks, so the most
 * steps that a text of a given length can take are known before it is begun, and what could take more is RE2's.
 */
import type { RegexNode } from "../../../protocol/text/regexSyntax.ts";

interface ShortMatch {
  /** In characters (code points) of the text, as RE2 counts. */
  readonly index: number;
  readonly text: string;
}

/** A millisecond or two at worst, for text that is made to take long. */
const MAX_STEPS = 3_000_000;

/**
 * What RE2 may refuse or read in another way although the tree does not show it: groups with a name or with rare flags,
 * a repetition of a repetition or of quoted text, half of a surrogate pair.
 */
const FOR_RE2 = /\(\?(?!:|[ims]+[:)])|[*+?}]\??[*+{]|[*+?}]\?\?|\\Q|\p{Cs}/u;

/** A part of a regex, in JavaScript. */
interface Part {
  readonly source: string;
  /** Most characters and assertions on one way through it. */
  readonly size: number;
  /** Ways through it for one place in the text, apart from how often its loops run. */
  readonly ways: number;
  /** Repetitions without an upper bound, one after the other. */
  readonly loops: number;
  readonly mayBeEmpty: boolean;
}

export class ShortRegex {
  readonly #regex: RegExp;
  readonly #part: Part;

  constructor(part: Part) {
    this.#part = part;
    this.#regex = new RegExp(part.source, "gu");
    // V8 interprets a regex once and then compiles it.
    for (const text of ["", " "]) this.find(Buffer.from(text), 0);
  }

  /** Whether text of this length can be judged here. */
  fits(bytes: number): boolean {
    const { size, ways, loops } = this.#part;
    let steps = size * ways * (bytes + 1);
    // Each loop ends at or after the one before it.
    for (let loop = 1; loop <= loops; loop += 1) steps *= (bytes + 1 + loop) / (loop + 1);
    return steps <= MAX_STEPS;
  }

  /** The first match in UTF-8 that begins after `skip` characters. */
  find(utf8: Uint8Array, skip: number): ShortMatch | undefined {
    const text = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length).toString("utf8");
    let from = 0;
    for (let left = skip; left > 0; left -= 1) {
      if (from >= text.length) return undefined;
      from += text.codePointAt(from)! > 0xffff ? 2 : 1;
    }
    this.#regex.lastIndex = from;
    const found = this.#regex.exec(text);
    return found === null ? undefined : { index: charactersIn(text, found.index), text: found[0] };
  }
}

/** @returns undefined when only RE2 can tell. */
export function shortRegex(pattern: string, tree: RegexNode): ShortRegex | undefined {
  const part = FOR_RE2.test(pattern) ? undefined : partOf(tree);
  return part === undefined ? undefined : new ShortRegex(part);
}

function partOf(node: RegexNode): Part | undefined {
  switch (node.kind) {
    case "empty":
      return { source: "", size: 0, ways: 1, loops: 0, mayBeEmpty: true };
    case "character":
    case "assertion":
      return node.javascript === undefined
        ? undefined
        : { source: node.javascript, size: 1, ways: 1, loops: 0, mayBeEmpty: node.kind === "assertion" };
    case "sequence": {
      const parts = node.nodes.map(partOf);
      return parts.every((part) => part !== undefined) ? inSequence(parts) : undefined;
    }
    case "alternatives": {
      const parts = node.nodes.map(partOf);
      return parts.every((part) => part !== undefined) ? anyOf(parts) : undefined;
    }
    case "repeat":
      return repeated(node);
    case "unknown":
      return undefined;
  }
}

const inSequence = (parts: readonly Part[]): Part => ({
  source: parts.map(({ source }) => source).join(""),
  size: sum(parts.map(({ size }) => size)),
  ways: parts.reduce((product, { ways }) => product * ways, 1),
  loops: sum(parts.map(({ loops }) => loops)),
  mayBeEmpty: parts.every(({ mayBeEmpty }) => mayBeEmpty),
});

const anyOf = (parts: readonly Part[]): Part => ({
  source: `(?:${parts.map(({ source }) => source).join("|")})`,
  size: Math.max(...parts.map(({ size }) => size)),
  ways: sum(parts.map(({ ways }) => ways)),
  loops: Math.max(...parts.map(({ loops }) => loops)),
  mayBeEmpty: parts.some(({ mayBeEmpty }) => mayBeEmpty),
});

function repeated({ node, min, max, isLazy }: RegexNode & { kind: "repeat" }): Part | undefined {
  const part = partOf(node);
  // JavaScript and RE2 differ on a repetition that may match nothing, and nested repetitions have no useful bound.
  if (part === undefined || part.mayBeEmpty || max < min) return undefined;
  if (max > 1 && (part.loops > 0 || (max === Infinity && part.ways > 1))) return undefined;
  let ways = max === Infinity ? 1 : 0;
  if (max !== Infinity) for (let times = min; times <= max; times += 1) ways += part.ways ** times;
  return {
    source: `(?:${part.source}){${min},${max === Infinity ? "" : max}}${isLazy ? "?" : ""}`,
    size: part.size * (max === Infinity ? min + 1 : max),
    ways,
    loops: part.loops + (max === Infinity ? 1 : 0),
    mayBeEmpty: min === 0,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Characters of the text before a place. */
function charactersIn(text: string, to: number): number {
  let count = 0;
  for (let at = 0; at < to; at += 1) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}
