/**
 * All literals wanted in one text, and one scan for them. A few are searched one by one (`indexOf` is memory speed);
 * more go into automatons. Adding must not rebuild everything each time, so automatons come in levels, each eight times
 * the one below: a literal is rebuilt once per level, and when nothing was added for a while all become one again.
 *
 * An automaton holds only the last bytes of each literal. A hit is then compared in full against the text,
 * which keeps the table small for any length of literal.
 */
import { LiteralAutomaton } from "./literalAutomaton.ts";
import type { PlainText } from "../text/plainText.ts";

/** Up to here `indexOf` for each is faster than one automaton for all (docs/performanceFacts.md, "Matching"). */
const DIRECT_MAX = 8;
/** Each level holds this many times the literals of the one below. */
const GROWTH = 8;
/** Bytes of a literal in the automaton: 1,000 literals then cost at most 2 MB of table. */
const KEY_BYTES = 8;
/** Text scanned since the last change before all levels become one. */
const SETTLE_BYTES = 262_144;

export interface Literal {
  readonly bytes: Buffer;
}

interface Slot extends Literal {
  isWanted: boolean;
}

/** Literals that end in the same key, found by their whole text so that hundreds of them cost as much as one. */
interface KeyGroup {
  readonly exact: Slot[];
  readonly longer: Map<number, Map<string, Slot[]>>;
}

interface Level {
  readonly slots: readonly Slot[];
  readonly automaton: LiteralAutomaton;
  readonly groups: readonly KeyGroup[];
}

type LiteralHit = (literal: Literal, from: number, to: number) => void;

export class LiteralSet {
  #direct: Slot[] = [];
  /** By size: `#levels[n]` holds up to `DIRECT_MAX × GROWTH^(n+1)`. */
  #levels: (Level | undefined)[] = [];
  readonly #slots = new Map<Literal, Slot>();
  #dead = 0;
  #scannedSinceChange = 0;
  /** Text offset up to which everything was scanned. */
  #position = 0;

  /** Literals wanted now. */
  get size(): number {
    return this.#slots.size;
  }

  /** Found from the next scan on. `bytes` is not empty; the same bytes are added once (the caller shares them). */
  add(bytes: Buffer): Literal {
    const slot: Slot = { bytes, isWanted: true };
    this.#slots.set(slot, slot);
    this.#direct.push(slot);
    this.#scannedSinceChange = 0;
    return slot;
  }

  remove(literal: Literal): void {
    const slot = this.#slots.get(literal);
    if (slot === undefined) return;
    this.#slots.delete(literal);
    slot.isWanted = false;
    const direct = this.#direct.indexOf(slot);
    if (direct >= 0) this.#direct.splice(direct, 1);
    else this.#dead++;
  }

  /** Reports every place in `[from, to)` where a wanted literal ends. Everything before `from` was scanned before. */
  scan(text: PlainText, from: number, to: number, hit: LiteralHit): void {
    if (this.#slots.size === 0) {
      this.#levels = [];
      this.#dead = 0;
      return;
    }
    this.#position = from;
    this.#arrange(text, to - from);
    for (const level of this.#levels) if (level !== undefined) scanLevel(level, text, from, to, hit);
    // A copy: a hit may remove its literal.
    for (const slot of this.#direct.slice()) scanDirect(slot, text, from, to, hit);
  }

  #arrange(text: PlainText, length: number): void {
    if (this.#direct.length > DIRECT_MAX) this.#promote(text);
    this.#scannedSinceChange += length;
    const levels = this.#levels.filter((level) => level !== undefined);
    const isSettled = this.#scannedSinceChange >= SETTLE_BYTES && levels.length > 1;
    // Tombstones cost only when their keys occur; rebuilding pays once they are half of all.
    if (isSettled || this.#dead > Math.max(64, this.#slots.size)) this.#rebuild(levels, text);
  }

  /** Moves the direct ones up: into the first level that has room for them and for all levels below it. */
  #promote(text: PlainText): void {
    const slots = this.#direct;
    this.#direct = [];
    let capacity = DIRECT_MAX * GROWTH;
    for (let index = 0; ; index++) {
      for (const slot of this.#levels[index]?.slots ?? []) if (slot.isWanted) slots.push(slot);
      this.#levels[index] = undefined;
      if (slots.length <= capacity) {
        this.#levels[index] = this.#build(slots, text);
        break;
      }
      capacity *= GROWTH;
    }
    this.#countDead();
  }

  #rebuild(levels: readonly Level[], text: PlainText): void {
    const slots = levels.flatMap((level) => level.slots.filter((slot) => slot.isWanted));
    this.#levels = [];
    if (slots.length > 0) {
      let index = 0;
      for (let capacity = DIRECT_MAX * GROWTH; slots.length > capacity; capacity *= GROWTH) index++;
      this.#levels[index] = this.#build(slots, text);
    }
    this.#dead = 0;
    this.#scannedSinceChange = 0;
  }

  #countDead(): void {
    let held = this.#direct.length;
    for (const level of this.#levels) held += level?.slots.length ?? 0;
    this.#dead = held - this.#slots.size;
  }

  #build(slots: readonly Slot[], text: PlainText): Level {
    const keys: Uint8Array[] = [];
    const groups = new Map<string, KeyGroup>();
    for (const slot of slots) {
      const key = slot.bytes.subarray(-KEY_BYTES);
      const name = key.toString("latin1");
      let group = groups.get(name);
      if (group === undefined) {
        group = { exact: [], longer: new Map() };
        groups.set(name, group);
        keys.push(key);
      }
      addTo(group, slot);
    }
    const automaton = new LiteralAutomaton(keys);
    // Where a key began just before the position, its end is still to come.
    const warmUp = Math.max(text.base, this.#position - KEY_BYTES);
    automaton.scan(text.view(warmUp, this.#position), 0, this.#position - warmUp, () => undefined);
    return { slots, automaton, groups: [...groups.values()] };
  }
}

function addTo(group: KeyGroup, slot: Slot): void {
  const { length } = slot.bytes;
  if (length <= KEY_BYTES) {
    group.exact.push(slot);
    return;
  }
  let byText = group.longer.get(length);
  if (byText === undefined) group.longer.set(length, (byText = new Map()));
  const name = slot.bytes.toString("latin1");
  const slots = byText.get(name);
  if (slots === undefined) byText.set(name, [slot]);
  else slots.push(slot);
}

function scanLevel(level: Level, text: PlainText, from: number, to: number, hit: LiteralHit): void {
  const view = text.view(from, to);
  level.automaton.scan(view, 0, view.length, (key, keyEnd) => {
    const group = level.groups[key];
    if (group === undefined) return;
    const end = from + keyEnd;
    for (const slot of group.exact) if (slot.isWanted) hit(slot, end - slot.bytes.length, end);
    for (const [length, byText] of group.longer) {
      if (end - length < text.base) continue;
      const slots = byText.get(text.view(end - length, end).toString("latin1"));
      for (const slot of slots ?? []) if (slot.isWanted) hit(slot, end - length, end);
    }
  });
}

function scanDirect(slot: Slot, text: PlainText, from: number, to: number, hit: LiteralHit): void {
  const { length } = slot.bytes;
  const start = Math.max(text.base, from - length + 1);
  const view = text.view(start, to);
  for (let at = view.indexOf(slot.bytes); at >= 0 && slot.isWanted; at = view.indexOf(slot.bytes, at + 1)) {
    hit(slot, start + at, start + at + length);
  }
}
