/** A literal of one wait: watched in the shared set, and searched by itself where text becomes visible late. */
import type { LiteralSet, LiteralWatcher } from "./literalSet.ts";
import { foundText, type PatternWatch, type Latch } from "../text/patternWatch.ts";
import type { PlainText } from "../text/plainText.ts";

export class LiteralWatch implements PatternWatch, LiteralWatcher {
  start: number;
  visibleTo = Infinity;
  readonly latch: Latch;
  readonly bytes: Buffer;
  readonly #maxMatchBytes: number;
  #text: PlainText | undefined;
  #literals: LiteralSet | undefined;

  constructor(latch: Latch, bytes: Buffer, start: number, maxMatchBytes: number) {
    this.latch = latch;
    this.bytes = bytes;
    this.start = start;
    this.#maxMatchBytes = maxMatchBytes;
  }

  attach(text: PlainText, literals: LiteralSet): void {
    this.detach();
    this.#text = text;
    this.#literals = literals;
    literals.watch(this.bytes, this);
  }

  detach(): void {
    this.#literals?.unwatch(this.bytes, this);
    this.#literals = undefined;
  }

  literalFound(from: number, to: number): void {
    const text = this.#text;
    if (text === undefined || this.#literals === undefined || text.sourceOf(from) < this.start) return;
    const found = foundText(text, from, to, this.#maxMatchBytes);
    if (found.to > this.visibleTo) return;
    // The caller first; detaching can wait.
    this.#text = undefined;
    this.latch.found(found);
    this.detach();
  }

  /** Searches between two source positions, a stretch that no scan has offered to this watch. */
  search(from: number, to: number): void {
    const text = this.#text;
    if (text === undefined || this.#literals === undefined) return;
    const start = text.offsetOf(from);
    const at = text.view(start, text.offsetOf(to)).indexOf(this.bytes);
    if (at < 0) return;
    this.detach();
    this.latch.found(foundText(text, start + at, start + at + this.bytes.length, this.#maxMatchBytes));
  }
}
