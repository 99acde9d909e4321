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
  /** The column in which typing began, when something was before it. */
  #origin = 0;
  /** Of a line that began in the row before. */
  #isContinued = false;
  readonly #printedTail = new Tail();
  readonly #cursorTail = new Tail();

  constructor(start: number) {
    this.start = start;
  }

  /** What was printed so far was there before the typing. */
  begin(): void {
    this.#origin = this.#cursor;
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
    if (cell?.character !== character) this.#cells[this.#cursor] = { character, at };
    this.#cursor++;
    this.#printed.push({ character, at });
  }

  move(columns: number): void {
    this.#change();
    this.#cursor = Math.max(0, this.#cursor + columns);
  }

  column(column: number): void {
    this.#change();
    this.#cursor = column;
    // readline's way over the edge: a blank that makes the terminal wrap, and back to the first column.
    if (column !== 0 || this.#printed.at(-1)?.character !== " ") return;
    this.#printed.pop();
    this.#printedTail.forget();
  }

  erase(which: number): void {
    this.#change();
    if (which === 0) this.#cells.length = Math.min(this.#cells.length, this.#cursor);
    else if (which === 2) this.#cells.length = 0;
    else for (const cell of this.#cells.slice(0, this.#cursor + 1)) cell.character = UNKNOWN;
  }

  shift(columns: number): void {
    this.#change();
    if (columns < 0) this.#cells.splice(this.#cursor, -columns);
    else if (this.#cursor < this.#cells.length) {
      const at = this.#cells[this.#cursor]?.at ?? this.start;
      const room = Array.from({ length: columns }, () => ({ character: " ", at }));
      this.#cells.splice(this.#cursor, 0, ...room);
    }
  }

  /** Takes over what the row before had printed: a line end may have been a wrap. */
  continueFrom(previous: EchoRow): void {
    this.#printed = [...previous.#printed, ...this.#printed];
    this.#isContinued = true;
  }

  /** Where the echo of the whole line begins when the row ends in it, blanks at the end aside. */
  endsWith(line: ExpectedLine): number | undefined {
    for (const { cells, end, origin } of this.#readings()) {
      let last = end;
      while (cells[last - 1]?.character === " ") last--;
      const length = new Tail().lengthAt(last, cells, line.beginnings, origin);
      if (length === line.shownLength) return cells[last - length]?.at;
    }
    return undefined;
  }

  /** Ends in a beginning of the line and one blank: the blank may be half of a wrap (` \r`). */
  mayWrap({ beginnings }: ExpectedLine): boolean {
    if (this.#printed.at(-1)?.character !== " ") return false;
    return new Tail().lengthAt(this.#printed.length - 1, this.#printed, beginnings, 0) > 0;
  }

  /** The longest beginning of the line that the row ends in, and where it begins. */
  beginningOf({ beginnings }: ExpectedLine): Beginning | undefined {
    let best: Beginning | undefined;
    // Where nothing has moved, the row is what was printed.
    if (this.hasMoved || this.#isContinued) {
      best = longer(best, this.#printedTail, this.#printed, this.#printed.length, beginnings, 0);
    }
    const { length } = this.#cells;
    const end = Math.min(length, this.#cursor);
    best = longer(best, this.#cursorTail, this.#cells, end, beginnings, this.#origin);
    return end < length ? longer(best, new Tail(), this.#cells, length, beginnings, this.#origin) : best;
  }

  #change(): void {
    this.hasMoved = true;
    this.#cursorTail.forget();
  }

  /** All that was printed, the row as displayed, and the row up to the cursor (a suggestion may follow). */
  #readings(): readonly Reading[] {
    const [cells, origin] = [this.#cells, this.#origin];
    return [
      { cells: this.#printed, end: this.#printed.length, origin: 0 },
      { cells, end: cells.length, origin },
      { cells, end: Math.min(cells.length, this.#cursor), origin },
    ];
  }
}

interface Reading {
  readonly cells: readonly Cell[];
  /** Up to here. */
  readonly end: number;
  /** Where typing began, whatever is before it. */
  readonly origin: number;
}

interface Beginning {
  readonly length: number;
  /** Source position. */
  readonly at: number;
}

/** The beginning that these cells end in, if it is longer than the best so far. */
function longer(
  best: Beginning | undefined,
  tail: Tail,
  cells: readonly Cell[],
  end: number,
  line: LineBeginnings,
  origin: number,
): Beginning | undefined {
  const length = tail.lengthAt(end, cells, line, origin);
  const at = cells[end - length]?.at;
  return at === undefined || length <= (best?.length ?? 0) ? best : { length, at };
}

/** How long a beginning of one line some cells end in, kept up to date while cells are only added. */
class Tail {
  #end = -1;
  #length = 0;

  /** The cells have changed. */
  forget(): void {
    this.#end = -1;
  }

  lengthAt(end: number, cells: readonly Cell[], line: LineBeginnings, origin: number): number {
    if (this.#end < 0) {
      this.#end = Math.max(0, end - line.lineLength);
      this.#length = 0;
    }
    for (; this.#end < end; this.#end++) {
      const previous = this.#end === origin ? undefined : cells[this.#end - 1]?.character;
      this.#length = line.next(this.#length, cells[this.#end]?.character ?? "", previous);
    }
    return this.#length;
  }
}
