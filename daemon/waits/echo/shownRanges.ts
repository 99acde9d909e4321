/** Which stretches of a source a wait may see while an echo is expected in it, and which of them it has not seen. */

export interface SourceRange {
  readonly from: number;
  readonly to: number;
}

export class ShownRanges {
  /** Where the stretch that is shown now begins: at the end of the last echo, or where typing began. */
  openFrom: number;
  /** Where the last hidden range ends; 0 before the first. Text before it does not exist for the wait. */
  hiddenTo = 0;
  #closed: SourceRange[] = [];
  #hasLate = false;

  constructor(start: number) {
    this.openFrom = start;
  }

  /** `[from, to)` is hidden for good: what was before it is a stretch of its own, and a new one begins after it. */
  hide(from: number, to: number): void {
    if (from > this.openFrom) this.#closed.push({ from: this.openFrom, to: from });
    this.openFrom = Math.max(this.openFrom, to);
    this.hiddenTo = this.openFrom;
  }

  /** Something was held back: when it is shown, no search has seen it. */
  noteHeld(): void {
    this.#hasLate = true;
  }

  /** Stretches that no search has seen whole, once. */
  take(end: number): readonly SourceRange[] {
    const ranges = this.#closed;
    this.#closed = [];
    if (this.#hasLate || ranges.length > 0) ranges.push({ from: this.openFrom, to: end });
    this.#hasLate = false;
    return ranges.filter((range) => range.to > range.from);
  }
}
