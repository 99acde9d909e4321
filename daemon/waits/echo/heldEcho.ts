/**
 * Text that is held back because it may be the echo: from where, and whether the whole typed line has been seen. Its
 * beginning only ever moves to an earlier position, until it is dropped.
 */
export class HeldEcho {
  /** Infinity while nothing is held. */
  from = Infinity;
  /** Where the whole line had been seen; undefined before. */
  fullEnd: number | undefined;
  /** The cursor moved after that: a line editor is at work on it. */
  hasMoved = false;

  get isHolding(): boolean {
    return this.from !== Infinity;
  }

  /** What begins here may be the line. */
  hold(from: number): void {
    this.from = Math.min(this.from, from);
  }

  /** The whole line is there, from `from` (or earlier) to `end`. */
  complete(from: number, end: number): void {
    this.hold(from);
    this.fullEnd = end;
    this.hasMoved = false;
  }

  /** It continues past its end: it was not the whole line. */
  reopen(): void {
    this.fullEnd = undefined;
  }

  cursorMoved(): void {
    if (this.fullEnd !== undefined) this.hasMoved = true;
  }

  drop(): void {
    this.from = Infinity;
    this.fullEnd = undefined;
    this.hasMoved = false;
  }
}
