/**
 * The literals of one text and their watchers: equal literals are searched once, and every watcher gets every match
 * (seed 002 §8.3: "fan out one matcher result to multiple callers"). A regex's required literals are watchers like waits.
 */
import { LiteralSet, type Literal } from "./literalSet.ts";
import type { PlainText } from "../text/plainText.ts";

export interface LiteralWatcher {
  /** The literal is at `[from, to)` of the text. May call `unwatch`. */
  literalFound(from: number, to: number): void;
}

interface Group {
  readonly literal: Literal;
  readonly watchers: Set<LiteralWatcher>;
}

export class LiteralIndex {
  readonly #set = new LiteralSet();
  readonly #byText = new Map<string, Group>();
  readonly #byLiteral = new Map<Literal, Group>();

  /** Different literals. */
  get size(): number {
    return this.#set.size;
  }

  /** @param bytes not empty */
  watch(bytes: Buffer, watcher: LiteralWatcher): void {
    const name = bytes.toString("latin1");
    let group = this.#byText.get(name);
    if (group === undefined) {
      group = { literal: this.#set.add(bytes), watchers: new Set() };
      this.#byText.set(name, group);
      this.#byLiteral.set(group.literal, group);
    }
    group.watchers.add(watcher);
  }

  unwatch(bytes: Buffer, watcher: LiteralWatcher): void {
    const name = bytes.toString("latin1");
    const group = this.#byText.get(name);
    if (group === undefined || !group.watchers.delete(watcher) || group.watchers.size > 0) return;
    this.#byText.delete(name);
    this.#byLiteral.delete(group.literal);
    this.#set.remove(group.literal);
  }

  scan(text: PlainText, from: number, to: number): void {
    this.#set.scan(text, from, to, (literal, at, end) => {
      for (const watcher of this.#byLiteral.get(literal)?.watchers ?? []) watcher.literalFound(at, end);
    });
  }
}
