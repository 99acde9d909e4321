/**
 * Parses RE2's syntax into a tree, as far as the waits need it: what every match contains, whether it can cross a line,
 * whether it depends on the end of the text, and its cost. RE2 itself decides what is valid; anything that this parser does
 * not know becomes `unknown`, which guarantees nothing (https://github.com/google/re2/wiki/Syntax).
 */

export type RegexNode =
  | { readonly kind: "empty" }
  /**
   * One of a few characters, or of many (`characters` undefined). `weight`: approximate number of RE2 instructions.
   * `javascript`: a class that means the same in a JavaScript regex with `u`; undefined if only RE2 knows.
   */
  | {
      readonly kind: "character";
      readonly characters: readonly string[] | undefined;
      readonly javascript: string | undefined;
      readonly hasNewline: boolean;
      readonly weight: number;
    }
  | { readonly kind: "sequence"; readonly nodes: readonly RegexNode[] }
  | { readonly kind: "alternatives"; readonly nodes: readonly RegexNode[] }
  | {
      readonly kind: "repeat";
      readonly node: RegexNode;
      readonly min: number;
      readonly max: number;
      readonly isLazy: boolean;
    }
  /** `$`, `\z`, `\b`, `\B` depend on the text that follows. `javascript` means the same with `u` and without `m`. */
  | { readonly kind: "assertion"; readonly restsOnEnd: boolean; readonly javascript: string | undefined }
  | { readonly kind: "unknown" };

export interface RegexFlags {
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  readonly dotAll: boolean;
}

type Scope = RegexFlags;

/** The caller refuses parentheses nested deeper than this, because the parser and RE2 both recurse. */
const MAX_REGEX_DEPTH = 100;

/** Character classes of at most this size are listed one by one. */
const MAX_LISTED = 4;
type CharacterNode = RegexNode & { readonly kind: "character" };
const ANY: CharacterNode = { kind: "character", characters: undefined, javascript: "[^]", hasNewline: true, weight: 4 };
/** A Unicode class has hundreds of byte ranges, so it compiles as slowly as hundreds of ordinary classes. */
const UNICODE_CLASS_WEIGHT = 400;
const UNKNOWN: RegexNode = { kind: "unknown" };
const CONTROL_ESCAPES: Readonly<Record<string, string>> = { a: "\x07", f: "\f", t: "\t", n: "\n", r: "\r", v: "\v" };
/** RE2's are of ASCII only. */
const CLASSES: Readonly<Record<string, string>> = { d: "0-9", s: "\\t\\n\\f\\r ", w: "0-9A-Za-z_" };
const START_OF_TEXT = "^";
const END_OF_TEXT = "$";

export class RegexParser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #failed = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** The tree; `unknown` if the text cannot be parsed completely. */
  parse(flags: RegexFlags): RegexNode {
    const node = this.#alternatives(flags);
    return this.#failed || this.#at < this.#text.length ? UNKNOWN : node;
  }

  #alternatives(outer: Scope): RegexNode {
    if (++this.#depth > MAX_REGEX_DEPTH) this.#failed = true;
    const branches: RegexNode[] = [];
    let nodes: RegexNode[] = [];
    let scope = outer;
    while (this.#at < this.#text.length && !this.#failed) {
      const next = this.#text[this.#at];
      if (next === ")") break;
      if (next === "|") {
        this.#at++;
        branches.push(sequence(nodes));
        nodes = [];
        continue;
      }
      const flags = this.#inlineFlags(scope);
      if (flags === undefined) nodes.push(this.#quantified(this.#atom(scope)));
      else scope = flags;
    }
    this.#depth--;
    if (branches.length === 0) return sequence(nodes);
    return { kind: "alternatives", nodes: [...branches, sequence(nodes)] };
  }

  /** `(?i)` applies to the rest of the group. */
  #inlineFlags(scope: Scope): Scope | undefined {
    const match = /^\(\?([imsU]*)(?:-([imsU]+))?\)/.exec(this.#text.slice(this.#at, this.#at + 16));
    if (match === null) return undefined;
    this.#at += match[0].length;
    return withFlags(scope, match[1] ?? "", match[2] ?? "");
  }

  #quantified(atom: RegexNode): RegexNode {
    let node = atom;
    for (;;) {
      const rest = this.#text.slice(this.#at, this.#at + 16);
      const match = /^(?:([*+?])|\{(\d{1,6})(,?)(\d{0,6})\})\??/.exec(rest);
      if (match === null) return node;
      this.#at += match[0].length;
      const isLazy = match[0].length > 1 && match[0].endsWith("?");
      if (match[1] !== undefined) {
        node = { kind: "repeat", node, min: match[1] === "+" ? 1 : 0, max: match[1] === "?" ? 1 : Infinity, isLazy };
        continue;
      }
      const min = Number(match[2]);
      const max = match[3] === "" ? min : match[4] === "" ? Infinity : Number(match[4]);
      node = { kind: "repeat", node, min, max, isLazy };
    }
  }

  #atom(scope: Scope): RegexNode {
    const point = this.#text.codePointAt(this.#at) ?? 0;
    const character = String.fromCodePoint(point);
    this.#at += character.length;
    if (character === "(") return this.#group(scope);
    if (character === "[") return this.#class(scope);
    if (character === ".") return scope.dotAll ? ANY : { ...ANY, javascript: "[^\\n]", hasNewline: false };
    if (character === "^") return assertion(scope.multiline ? "(?<=^|\\n)" : START_OF_TEXT, false);
    if (character === "$") return assertion(scope.multiline ? "(?=$|\\n)" : END_OF_TEXT, true);
    if (character === "\\") return this.#escape(scope);
    // RE2 decides whether an operator can stand for itself here.
    return /[*+?{]/.test(character)
      ? { ...literal(character, scope), javascript: undefined }
      : literal(character, scope);
  }

  #group(scope: Scope): RegexNode {
    let inner = scope;
    const head = /^\?(?:P?<[A-Za-z_]\w*>|([imsU]*)(?:-([imsU]+))?:)/.exec(this.#text.slice(this.#at, this.#at + 300));
    if (head !== null) {
      this.#at += head[0].length;
      inner = withFlags(scope, head[1] ?? "", head[2] ?? "");
    } else if (this.#text[this.#at] === "?") {
      this.#failed = true;
    }
    const node = this.#alternatives(inner);
    if (this.#text[this.#at] === ")") this.#at++;
    else this.#failed = true;
    return node;
  }

  #escape(scope: Scope): RegexNode {
    const letter = this.#text[this.#at] ?? "";
    this.#at++;
    if (letter === "Q") return this.#quoted(scope);
    if (letter === "b") return assertion("\\b", true);
    // RE2 finds it between the bytes of one character, too.
    if (letter === "B") return assertion(undefined, true);
    if (letter === "z") return assertion(END_OF_TEXT, true);
    if (letter === "A") return assertion(START_OF_TEXT, false);
    this.#at--;
    const one = this.#escapedCharacter();
    if (one !== undefined) return literal(one, scope);
    const set = this.#escapedClass() ?? this.#fail();
    // With `i`, RE2 counts the Kelvin sign and the long s among the letters of words.
    return scope.ignoreCase && /w/i.test(letter) && set.kind === "character" ? { ...set, javascript: undefined } : set;
  }

  #fail(): RegexNode {
    this.#failed = true;
    return UNKNOWN;
  }

  #quoted(scope: Scope): RegexNode {
    const end = this.#text.indexOf("\\E", this.#at);
    const quoted = this.#text.slice(this.#at, end < 0 ? undefined : end);
    this.#at += quoted.length + (end < 0 ? 0 : 2);
    return sequence(Array.from(quoted).map((character) => literal(character, scope)));
  }

  /** An escape for one character, after the backslash. */
  #escapedCharacter(): string | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 12);
    const hex = /^(?:x([0-9A-Fa-f]{2})|[xu]\{([0-9A-Fa-f]{1,6})\}|u([0-9A-Fa-f]{1,4}))/.exec(rest);
    if (hex !== null) {
      const point = Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "", 16);
      if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) return undefined;
      this.#at += hex[0].length;
      return String.fromCodePoint(point);
    }
    const control = /^c([A-Z])/.exec(rest);
    if (control?.[1] !== undefined) {
      this.#at += 2;
      return String.fromCharCode(control[1].charCodeAt(0) - 64);
    }
    const first = rest[0];
    if (first === undefined) return undefined;
    const known = CONTROL_ESCAPES[first] ?? (/^[!-/:-@[-`{-~]$/.test(first) ? first : undefined);
    if (known !== undefined) this.#at++;
    return known;
  }

  /** `\d`, `\pL`, `\P{Greek}` and the like, after the backslash. */
  #escapedClass(): CharacterNode | undefined {
    const match = /^(?:([dswDSW])|[pP](?:[A-Z]|\{\^?[A-Za-z_]+\}))/.exec(this.#text.slice(this.#at, this.#at + 48));
    if (match === null) return undefined;
    this.#at += match[0].length;
    const letter = match[1];
    if (letter === undefined) {
      return { ...ANY, javascript: undefined, weight: UNICODE_CLASS_WEIGHT };
    }
    const members = CLASSES[letter.toLowerCase()] ?? "";
    return {
      kind: "character",
      characters: undefined,
      javascript: letter === letter.toLowerCase() ? `[${members}]` : `[^${members}]`,
      hasNewline: letter === "s" || letter === "D" || letter === "W",
      weight: 4,
    };
  }

  #class(scope: Scope): RegexNode {
    const isNegated = this.#text[this.#at] === "^";
    if (isNegated) this.#at++;
    let listed: string[] | undefined = [];
    /** What stands in the brackets in JavaScript. */
    let members: string | undefined = scope.ignoreCase ? undefined : "";
    let hasNewline = false;
    let weight = 2;
    for (let first = true; ; first = false) {
      const next = this.#text[this.#at];
      if (next === undefined) return this.#fail();
      if (next === "]" && !first) break;
      const member = this.#classMember();
      if (member === undefined) return this.#fail();
      hasNewline ||= member.hasNewline;
      weight += member.weight;
      if (member.characters === undefined) listed = undefined;
      else listed?.push(...member.characters);
      // A set in brackets gives what is in them; what a negated one means there is RE2's.
      const [, inner] = /^\[(?!\^)(.*)\]$/s.exec(member.javascript ?? "") ?? [];
      members = members === undefined || inner === undefined ? undefined : members + inner;
    }
    this.#at++;
    const javascript = members === undefined ? undefined : `[${isNegated ? "^" : ""}${members}]`;
    if (isNegated || listed === undefined || listed.length > MAX_LISTED) {
      return {
        kind: "character",
        characters: undefined,
        javascript,
        hasNewline: isNegated ? !hasNewline : hasNewline,
        weight: weight + 4,
      };
    }
    const folded = listed.map((character) => literal(character, scope).characters);
    const isSure = folded.every((characters) => characters !== undefined);
    const characters = isSure ? [...new Set(folded.flat())] : undefined;
    return { kind: "character", characters, javascript, hasNewline, weight };
  }

  #classMember(): CharacterNode | undefined {
    const named = /^\[:\^?\w+:\]/.exec(this.#text.slice(this.#at, this.#at + 20));
    if (named !== null) {
      this.#at += named[0].length;
      return { ...ANY, javascript: undefined };
    }
    if (this.#text[this.#at] === "\\") {
      this.#at++;
      const group = this.#escapedClass();
      if (group !== undefined) return group;
      this.#at--;
    }
    const low = this.#classCharacter();
    if (low === undefined) return undefined;
    if (this.#text[this.#at] !== "-" || this.#text[this.#at + 1] === "]") {
      return {
        kind: "character",
        characters: [low],
        javascript: `[${escaped(low)}]`,
        hasNewline: low === "\n",
        weight: 1,
      };
    }
    this.#at++;
    const high = this.#classCharacter();
    if (high === undefined || high.codePointAt(0)! < low.codePointAt(0)!) return undefined;
    const isWide = (high.codePointAt(0) ?? 0) > 0x7f;
    return {
      kind: "character",
      characters: undefined,
      javascript: `[${escaped(low)}-${escaped(high)}]`,
      hasNewline: low <= "\n" && high >= "\n",
      weight: isWide ? 8 : 1,
    };
  }

  #classCharacter(): string | undefined {
    const point = this.#text.codePointAt(this.#at);
    if (point === undefined) return undefined;
    const character = String.fromCodePoint(point);
    this.#at += character.length;
    return character === "\\" ? this.#escapedCharacter() : character;
  }
}

const sequence = (nodes: readonly RegexNode[]): RegexNode => {
  const [only] = nodes;
  if (only === undefined) return { kind: "empty" };
  return nodes.length === 1 ? only : { kind: "sequence", nodes };
};

function literal(character: string, scope: Scope): CharacterNode {
  const hasNewline = character === "\n";
  // RE2 reads any invalid byte as U+FFFD; the text already has U+FFFD for each, so it is an ordinary character.
  if (!scope.ignoreCase) {
    return { kind: "character", characters: [character], javascript: escaped(character), hasNewline, weight: 1 };
  }
  const folded = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  // k and s also fold to the Kelvin sign and the long s, and beyond ASCII folding has its own rules, so there is no
  // guarantee.
  const isSure = character < "\x80" && !/[kKsS]/.test(character);
  const javascript = isSure ? `[${[...folded].map(escaped).join("")}]` : undefined;
  return { kind: "character", characters: isSure ? [...folded] : undefined, javascript, hasNewline, weight: 2 };
}

const assertion = (javascript: string | undefined, restsOnEnd: boolean): RegexNode => ({
  kind: "assertion",
  restsOnEnd,
  javascript,
});

/** Means the character itself in a JavaScript regex with `u`, also in brackets. */
const escaped = (character: string): string =>
  /^[0-9A-Za-z]$/.test(character) ? character : `\\u{${character.codePointAt(0)!.toString(16)}}`;

function withFlags(scope: Scope, on: string, off: string): Scope {
  return {
    ignoreCase: (scope.ignoreCase || on.includes("i")) && !off.includes("i"),
    multiline: (scope.multiline || on.includes("m")) && !off.includes("m"),
    dotAll: (scope.dotAll || on.includes("s")) && !off.includes("s"),
  };
}
