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
/** Bytes of a literal in the automaton: 1,000 literals then cost at most 2 MB of table. */
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
  readonly exact: Literal[];
  readonly longer: Map<number, Map<string, Literal[]>>;
}

/** The literals that were wanted when it was built. */
interface Built {
  readonly literals: number;
  readonly automaton: LiteralAutomaton;
  readonly groups: readonly KeyGroup[];
}

export class LiteralSet {
  #direct: Literal[] = [];
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
      this.#direct.push(literal);
      this.#scannedSinceChange = 0;
    }
    literal.watchers.add(watcher);
  }

  unwatch(bytes: Buffer, watcher: LiteralWatcher): void {
    const name = bytes.toString("latin1");
    const literal = this.#byText.get(name);
    if (literal === undefined || !literal.watchers.delete(watcher) || literal.watchers.size > 0) return;
    this.#byText.delete(name);
    const direct = this.#direct.indexOf(literal);
    if (direct >= 0) this.#direct.splice(direct, 1);
    else this.#dead++;
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
    // A copy: a watcher may end its watch.
    for (const literal of this.#direct.slice()) scanDirect(literal, text, from, to);
  }

  #arrange(text: PlainText, from: number, length: number): void {
    const direct = this.#direct.length;
    this.#scannedSinceChange += length;
    const isMany = direct > (this.#built?.literals ?? 0) * DIRECT_SHARE || this.#scannedSinceChange >= SETTLE_BYTES;
    // Tombstones cost only when their keys occur; rebuilding pays once they are half of all.
    if ((direct > DIRECT_MAX && isMany) || this.#dead > Math.max(64, this.#byText.size)) this.#build(text, from);
  }

  #build(text: PlainText, from: number): void {
    const keys: Uint8Array[] = [];
    const groups = new Map<string, KeyGroup>();
    for (const literal of this.#byText.values()) {
      const key = literal.bytes.subarray(-KEY_BYTES);
      const name = key.toString("latin1");
      let group = groups.get(name);
      if (group === undefined) {
        group = { exact: [], longer: new Map() };
        groups.set(name, group);
        keys.push(key);
      }
      addTo(group, literal);
    }
    const automaton = new LiteralAutomaton(keys);
    // Where a key began just before the position, its end is still to come.
    const warmUp = Math.max(text.base, from - KEY_BYTES);
    automaton.scan(text.view(warmUp, from), 0, from - warmUp, () => undefined);
    this.#built = { literals: this.#byText.size, automaton, groups: [...groups.values()] };
    this.#direct = [];
    this.#dead = 0;
  }
}

const isWanted = ({ watchers }: Literal): boolean => watchers.size > 0;

function report({ watchers }: Literal, from: number, to: number): void {
  for (const watcher of watchers) watcher.literalFound(from, to);
}

function addTo(group: KeyGroup, literal: Literal): void {
  const { length } = literal.bytes;
  if (length <= KEY_BYTES) {
    group.exact.push(literal);
    return;
  }
  let byText = group.longer.get(length);
  if (byText === undefined) group.longer.set(length, (byText = new Map()));
  const name = literal.bytes.toString("latin1");
  const literals = byText.get(name);
  if (literals === undefined) byText.set(name, [literal]);
  else literals.push(literal);
}

function scanBuilt({ automaton, groups }: Built, text: PlainText, from: number, to: number): void {
  const view = text.view(from, to);
  automaton.scan(view, 0, view.length, (key, keyEnd) => {
    const group = groups[key];
    if (group === undefined) return;
    const end = from + keyEnd;
    for (const literal of group.exact) report(literal, end - literal.bytes.length, end);
    for (const [length, byText] of group.longer) {
      if (end - length < text.base) continue;
      const literals = byText.get(text.view(end - length, end).toString("latin1"));
      for (const literal of literals ?? []) report(literal, end - length, end);
    }
  });
}

function scanDirect(literal: Literal, text: PlainText, from: number, to: number): void {
  const { length } = literal.bytes;
  const start = Math.max(text.base, from - length + 1);
  const view = text.view(start, to);
  for (let at = view.indexOf(literal.bytes); at >= 0 && isWanted(literal); at = view.indexOf(literal.bytes, at + 1)) {
    report(literal, start + at, start + at + length);
  }
}
