/**
 * Ties the echo mask of one wait to its watches: moves their bounds as the mask decides, and has them search the text
 * that the mask shows late.
 */
import type { EchoMask } from "../echo/echoMask.ts";
import type { TextWatch } from "./textWatch.ts";

export class EchoWatch {
  readonly #mask: EchoMask;
  readonly #entries: Set<TextWatch>;

  constructor(mask: EchoMask, entries: readonly TextWatch[]) {
    this.#mask = mask;
    this.#entries = new Set(entries);
  }

  get isOver(): boolean {
    return this.#mask.isOver || this.#entries.size === 0;
  }

  /** Text is held back; a pause may decide about it. */
  get isHolding(): boolean {
    return this.#mask.visibleTo !== Infinity;
  }

  /** A shell's editor is at work: what is on the screen is its drawing. */
  get isEditing(): boolean {
    return this.#mask.isEditing;
  }

  get openFrom(): number {
    return this.#mask.openFrom;
  }

  /** True when no watch is left. */
  forget(entry: TextWatch): boolean {
    this.#entries.delete(entry);
    return this.#entries.size === 0;
  }

  /** Before the text of these bytes is matched. */
  feed(bytes: Uint8Array, source: number): void {
    this.#mask.feed(bytes, source);
    this.#bound();
  }

  /** After it was matched, up to `end`: searches what has just become visible. */
  show(end: number, search: (entry: TextWatch, from: number, to: number) => void): void {
    for (const { from, to } of this.#mask.takeShown(end)) {
      for (const entry of this.#entries) search(entry, from, to);
    }
  }

  /** Returns when to ask again, in milliseconds of quiet. */
  settle(quietMs: number): number | undefined {
    const nextMs = this.#mask.settle(quietMs);
    this.#bound();
    return nextMs;
  }

  gap(to: number): void {
    this.#mask.gap(to);
    this.#bound();
  }

  #bound(): void {
    for (const { watch } of this.#entries) {
      watch.start = Math.max(watch.start, this.#mask.hiddenTo);
      watch.visibleTo = this.#mask.visibleTo;
    }
  }
}
