/**
 * All literals wanted in one text, and one scan for them. Equal literals are searched once, and every watcher gets every
 * match (seed 002 §8.3: "fan out one matcher result to multiple callers"); a regex's required literals are watchers like
 * waits. A few literals are searched one by one (`indexOf` is memory speed); more go into one automaton. Those added since it
 * was built are searched one by one as well, until they are many: each literal is rebuilt a bounded number of times.
 *
 * The automaton holds only the last bytes of each literal. A hit is then compared in full against the text,
 * which keeps the table small for any length of literal.
 */
import { LiteralAutomaton } from "./literalAutomaton.ts";
import type { PlainText } from "./plainText.ts";

/** Up to here `indexOf` for each is faster than one automaton for all (docs/performanceFacts.md, "Matching"). */
const DIRECT_MAX = 8;
/** More, once they are this share of those in the automaton; adding them one by one then rebuilds each some nine times. */
const DIRECT_SHARE = 1 / 8;
/** Bytes of a literal in the automaton: 1,000 random literals of ASCII then cost 3 MB of table, any at most 8 MB. */
const KEY_BYTES = 8;
/** Text scanned since the last change after which all but a few go into the automaton. */
const SETTLE_BYTES = 262_144;

export interface LiteralWatcher {
  /** The literal is at `[from, to)` of the text. May call `unwatch`. */
  literalFound(from: number, to: number): void;
}

/** A tombstone once it has no watchers. */
interface Literal {
  readonly bytes: Buffer;
  readonly watchers: Set<LiteralWatcher>;
}

/** Literals that end in the same key, found by their whole text so that hundreds of them cost as much as one. */
interface KeyGroup {
  /** The key itself. */
  readonly exact: Literal | undefined;
  /** Lengths of the others. */
  readonly longer: Set<number>;
}

/** The literals that were wanted when it was built. */
interface Built {
  readonly literals: ReadonlyMap<string, Literal>;
  readonly automaton: LiteralAutomaton;
  readonly groups: readonly KeyGroup[];
}

export class LiteralSet {
  readonly #direct = new Set<Literal>();
  #built: Built | undefined;
  readonly #byText = new Map<string, Literal>();
  /** Tombstones in what was built. */
  #dead = 0;
  #scannedSinceChange = 0;

  /** Literals wanted now. */
  get size(): number {
    return this.#byText.size;
  }

  /** Found from the next scan on. @param bytes not empty */
  watch(bytes: Buffer, watcher: LiteralWatcher): void {
    const name = bytes.toString("latin1");
    let literal = this.#byText.get(name);
    if (literal === undefined) {
      literal = { bytes, watchers: new Set() };
      this.#byText.set(name, literal);
      this.#direct.add(literal);
      this.#scannedSinceChange = 0;
    }
    literal.watchers.add(watcher);
  }

  unwatch(bytes: Buffer, watcher: LiteralWatcher): void {
    const name = bytes.toString("latin1");
    const literal = this.#byText.get(name);
    if (literal === undefined || !literal.watchers.delete(watcher) || literal.watchers.size > 0) return;
    this.#byText.delete(name);
    if (!this.#direct.delete(literal)) this.#dead++;
  }

  /** Reports every place in `[from, to)` where a wanted literal ends. Everything before `from` was scanned before. */
  scan(text: PlainText, from: number, to: number): void {
    if (this.#byText.size === 0) {
      this.#built = undefined;
      this.#dead = 0;
      return;
    }
    this.#arrange(text, from, to - from);
    if (this.#built !== undefined) scanBuilt(this.#built, text, from, to);
    for (const literal of this.#direct) scanDirect(literal, text, from, to);
  }

  #arrange(text: PlainText, from: number, length: number): void {
    const direct = this.#direct.size;
    this.#scannedSinceChange += length;
    const isMany =
      direct > (this.#built?.literals.size ?? 0) * DIRECT_SHARE || this.#scannedSinceChange >= SETTLE_BYTES;
    // Tombstones cost only when their keys occur; rebuilding pays once they are half of all.
    if ((direct > DIRECT_MAX && isMany) || this.#dead > Math.max(64, this.#byText.size)) this.#build(text, from);
  }

  #build(text: PlainText, from: number): void {
    const literals = new Map(this.#byText);
    const groups = new Map<string, KeyGroup>();
    for (const name of literals.keys()) {
      const key = name.slice(-KEY_BYTES);
      let group = groups.get(key);
      if (group === undefined) groups.set(key, (group = { exact: literals.get(key), longer: new Set() }));
      if (name !== key) group.longer.add(name.length);
    }
    const automaton = new LiteralAutomaton([...groups.keys()].map((key) => Buffer.from(key, "latin1")));
    // Where a key began just before the position, its end is still to come.
    automaton.scan(text.view(from - KEY_BYTES, from), () => undefined);
    this.#built = { literals, automaton, groups: [...groups.values()] };
    this.#direct.clear();
    this.#dead = 0;
  }
}

function report({ watchers }: Literal, from: number, to: number): void {
  for (const watcher of watchers) watcher.literalFound(from, to);
}

function scanBuilt({ automaton, literals, groups }: Built, text: PlainText, from: number, to: number): void {
  automaton.scan(text.view(from, to), (key, keyEnd) => {
    const end = from + keyEnd;
    const { exact, longer } = groups[key]!;
    if (exact !== undefined) report(exact, end - exact.bytes.length, end);
    for (const length of longer) {
      const literal = literals.get(text.view(end - length, end).toString("latin1"));
      // Where the text begins, less than was asked for is there, and that may be a shorter literal.
      if (literal?.bytes.length === length) report(literal, end - length, end);
    }
  });
}

function scanDirect(literal: Literal, text: PlainText, from: number, to: number): void {
  const { length } = literal.bytes;
  const start = Math.max(text.base, from - length + 1);
  const view = text.view(start, to);
  for (let at = view.indexOf(literal.bytes); at >= 0; at = view.indexOf(literal.bytes, at + 1)) {
    report(literal, start + at, start + at + length);
  }
}
