/**
 * Regexes that this thread judges itself, as JavaScript's own, on text that is short enough or has lines that are: most
 * that people wait for. The worker's two wake-ups take half a millisecond or more, and the worker itself 19 MB.
 * JavaScript backtracks, so the most steps that a text of a given length can take are known before it is begun, and what
 * could take more is RE2's.
 */
import type { RegexNode } from "../../../protocol/text/regexSyntax.ts";

interface ShortMatch {
  /** In characters (code points) of the text, as RE2 counts. */
  readonly index: number;
  readonly text: string;
}

/** For one piece: a millisecond or two at worst, for text that is made to take long. */
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
  readonly #isSingleLine: boolean;

  /** @param isSingleLine No match contains a line end. */
  constructor(part: Part, isSingleLine: boolean) {
    this.#part = part;
    this.#isSingleLine = isSingleLine;
    this.#regex = new RegExp(part.source, "gu");
    // V8 interprets a regex once and then compiles it.
    for (const text of ["", " "]) this.find(text, 0);
  }

  /** Looks for a match in UTF-8 that begins after `skip` characters, with so many steps in each piece. */
  search(utf8: Uint8Array, skip: number, maxSteps: number = MAX_STEPS): ShortSearch {
    return new ShortSearch(
      this,
      Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length).toString("utf8"),
      skip,
      maxSteps,
    );
  }

  /**
   * Where a piece of the text from `from` on ends that takes at most so many steps: all of it, or whole lines, where no
   * match goes on. Undefined: that is too little.
   */
  pieceEnd(text: string, from: number, maxSteps: number): number | undefined {
    if (this.#steps(text.length - from) <= maxSteps) return text.length;
    if (!this.#isSingleLine) return undefined;
    let end = from;
    for (let steps = 0; end < text.length;) {
      const next = text.indexOf("\n", end) + 1 || text.length;
      steps += this.#steps(next - end);
      if (steps > maxSteps) break;
      end = next;
    }
    return end > from ? end : undefined;
  }

  /** The first match that begins at `from` or after it, in UTF-16 units as is its place. */
  find(text: string, from: number): RegExpExecArray | undefined {
    this.#regex.lastIndex = from;
    return this.#regex.exec(text) ?? undefined;
  }

  /** The most that text of this length, in UTF-16 units, can take. */
  #steps(length: number): number {
    const { size, ways, loops } = this.#part;
    let steps = size * ways * (length + 1);
    // Each loop ends at or after the one before it.
    for (let loop = 1; loop <= loops; loop += 1) steps *= (length + 1 + loop) / (loop + 1);
    return steps;
  }
}

/** One text, judged in pieces so that none takes long. */
export class ShortSearch {
  readonly #regex: ShortRegex;
  readonly #text: string;
  readonly #maxSteps: number;
  /** Where the next piece begins, in UTF-16 units and in characters. */
  #from = 0;
  #skip = 0;

  constructor(regex: ShortRegex, text: string, skip: number, maxSteps: number) {
    this.#regex = regex;
    this.#text = text;
    this.#maxSteps = maxSteps;
    for (; this.#skip < skip && this.#from < text.length; this.#skip += 1) {
      this.#from += text.codePointAt(this.#from)! > 0xffff ? 2 : 1;
    }
    if (this.#skip < skip) this.#from = text.length + 1;
  }

  /** Characters at the front in which no match begins: those that have been judged are among them. */
  get skip(): number {
    return this.#skip;
  }

  /** @returns "more" after a piece without a match that is not the last one, "long" when the next one could take long */
  next(): ShortMatch | "none" | "more" | "long" {
    const from = this.#from;
    if (from > this.#text.length) return "none";
    const end = this.#regex.pieceEnd(this.#text, from, this.#maxSteps);
    if (end === undefined) return "long";
    const isLast = end === this.#text.length;
    const found = this.#regex.find(isLast ? this.#text : this.#text.slice(0, end), from);
    // At the end of a piece that is not the last one, `$` and `\b` do not see what follows: that place is the next one's.
    if (found !== undefined && (isLast || found.index < end)) {
      return { index: this.#skip + charactersIn(this.#text, from, found.index), text: found[0] };
    }
    if (isLast) return "none";
    this.#skip += charactersIn(this.#text, from, end);
    this.#from = end;
    return "more";
  }
}

/** @returns undefined when only RE2 can tell. */
export function shortRegex(pattern: string, tree: RegexNode, isSingleLine: boolean): ShortRegex | undefined {
  const part = FOR_RE2.test(pattern) ? undefined : partOf(tree);
  return part === undefined ? undefined : new ShortRegex(part, isSingleLine);
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

/** Characters of the text between two places. */
function charactersIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if ((text.charCodeAt(at) & 0xfc00) !== 0xdc00) count += 1;
  return count;
}
