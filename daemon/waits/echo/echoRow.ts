/**
 * One row while something may be echoed into it, read in two ways at once: what it says where the cursor wrote it (line
 * editors go back and write again), and everything printed in order (a long line wraps at the edge of the screen without
 * the row changing for us, readline helping with ` \r`). An echo is recognised when either reading ends in what was typed.
 */
import type { ExpectedLine, LineBeginnings } from "./typedLines.ts";

interface Cell {
  character: string;
  /** Source position where this character first came here. */
  at: number;
}

/** A cell the cursor jumped over: it may hold something printed before the row was watched. */
const UNKNOWN = "\0";
/** A row longer than what was typed by more than this is no command line. */
const MAX_EXTRA = 4_096;

export class EchoRow {
  /** Source position at which the row begins, as far as it is watched. */
  readonly start: number;
  readonly #cells: Cell[] = [];
  #cursor = 0;
  #printed: Cell[] = [];
  /** The cursor was moved or something was erased since the row began. */
  hasMoved = false;
  /** Colours were changed: an editor may be showing more than was typed, such as a suggestion. */
  isStyled = false;
  /** Of a line that began in the row before. */
  #isContinued = false;
  #printedEnds = new LineEnds(0);
  #cellEnds = new LineEnds(0);

  constructor(start: number) {
    this.start = start;
  }

  /** What was printed so far was there before the typing. */
  begin(): void {
    this.#cellEnds = new LineEnds(this.#cursor);
    this.#printed = [];
    this.hasMoved = false;
    this.isStyled = false;
  }

  isTooLong(typedLength: number): boolean {
    return this.#printed.length > typedLength * 4 + MAX_EXTRA || this.#cells.length > typedLength + MAX_EXTRA * 2;
  }

  put(character: string, at: number): void {
    while (this.#cells.length < this.#cursor) this.#cells.push({ character: UNKNOWN, at });
    const cell = this.#cells[this.#cursor];
    // Rewritten unchanged: the first time counts.
    if (cell?.character !== character) {
      this.#cells[this.#cursor] = { character, at };
      this.#cellEnds.changeFrom(this.#cursor);
    }
    this.#cursor++;
    this.#printed.push({ character, at });
  }

  move(columns: number): void {
    this.hasMoved = true;
    this.#cursor = Math.max(0, this.#cursor + columns);
  }

  column(column: number): void {
    this.hasMoved = true;
    this.#cursor = column;
    // readline's way over the edge: a blank that makes the terminal wrap, and back to the first column.
    if (column !== 0 || this.#printed.at(-1)?.character !== " ") return;
    this.#printed.pop();
    this.#printedEnds.changeFrom(this.#printed.length);
  }

  erase(which: number): void {
    this.hasMoved = true;
    if (which === 0) this.#cells.length = Math.min(this.#cells.length, this.#cursor);
    else if (which === 2) this.#cells.length = 0;
    else for (const cell of this.#cells.slice(0, this.#cursor + 1)) cell.character = UNKNOWN;
    this.#cellEnds.changeFrom(which === 0 ? this.#cells.length : 0);
  }

  shift(columns: number): void {
    this.hasMoved = true;
    this.#cellEnds.changeFrom(this.#cursor);
    if (columns < 0) this.#cells.splice(this.#cursor, -columns);
    else if (this.#cursor < this.#cells.length) {
      const at = this.#cells[this.#cursor]?.at ?? this.start;
      const room = Array.from({ length: columns }, () => ({ character: " ", at }));
      this.#cells.splice(this.#cursor, 0, ...room);
    }
  }

  /** Goes on with what the row before had printed, of which nothing is read any more: a line end may have been a wrap. */
  continueFrom(previous: EchoRow): void {
    this.#printed = previous.#printed;
    this.#printedEnds = previous.#printedEnds;
    this.#isContinued = true;
  }

  /** Where the echo of the whole line begins when the row ends in it, blanks at the end aside. */
  endsWith(line: ExpectedLine): number | undefined {
    for (const { cells, end, ends } of [this.#asPrinted(), this.#asDisplayed(), this.#toCursor()]) {
      let last = end;
      while (cells[last - 1]?.character === " ") last--;
      const length = ends.lengthAt(last, cells, line.beginnings);
      if (length === line.shownLength) return cells[last - length]?.at;
    }
    return undefined;
  }

  /** Ends in a beginning of the line and one blank: the blank may be half of a wrap (` \r`). */
  mayWrap({ beginnings }: ExpectedLine): boolean {
    if (this.#printed.at(-1)?.character !== " ") return false;
    return this.#printedEnds.lengthAt(this.#printed.length - 1, this.#printed, beginnings) > 0;
  }

  /** The longest beginning of the line that the row ends in, and where it begins. */
  beginningOf({ beginnings }: ExpectedLine): Beginning | undefined {
    let best: Beginning | undefined;
    // Where nothing has moved, the row is what was printed.
    const isPrintedOtherwise = this.hasMoved || this.#isContinued;
    const readings = isPrintedOtherwise
      ? [this.#asPrinted(), this.#toCursor(), this.#asDisplayed()]
      : [this.#toCursor()];
    for (const { cells, end, ends } of readings) {
      const length = ends.lengthAt(end, cells, beginnings);
      const at = cells[end - length]?.at;
      if (at !== undefined && length > (best?.length ?? 0)) best = { length, at };
    }
    return best;
  }

  #asPrinted(): Reading {
    return { cells: this.#printed, end: this.#printed.length, ends: this.#printedEnds };
  }

  #asDisplayed(): Reading {
    return { cells: this.#cells, end: this.#cells.length, ends: this.#cellEnds };
  }

  /** A suggestion may follow. */
  #toCursor(): Reading {
    return { cells: this.#cells, end: Math.min(this.#cells.length, this.#cursor), ends: this.#cellEnds };
  }
}

interface Reading {
  readonly cells: readonly Cell[];
  /** Up to here. */
  readonly end: number;
  readonly ends: LineEnds;
}

interface Beginning {
  readonly length: number;
  /** Source position. */
  readonly at: number;
}

/** How long a beginning of one line ends at each of some cells; what has not changed is not read again. */
class LineEnds {
  readonly #origin: number;
  readonly #lengths: number[] = [];

  /** @param origin where typing began, whatever is before it */
  constructor(origin: number) {
    this.#origin = origin;
  }

  /** The cell there is another one, or none, and so may be all behind it. */
  changeFrom(index: number): void {
    if (index < this.#lengths.length) this.#lengths.length = index;
  }

  /** Of the cells before `end`. */
  lengthAt(end: number, cells: readonly Cell[], line: LineBeginnings): number {
    for (let at = this.#lengths.length; at < end; at++) {
      const previous = at === this.#origin ? undefined : cells[at - 1]?.character;
      this.#lengths.push(line.next(this.#lengths[at - 1] ?? 0, cells[at]?.character ?? "", previous));
    }
    return this.#lengths[end - 1] ?? 0;
  }
}
