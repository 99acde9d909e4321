/**
 * One row while something may be echoed into it, read in two ways at once: what it says where the cursor wrote it (line
 * editors go back and write again), and everything printed in order (a long line wraps at the edge of the screen without
 * the row changing for us, readline helping with ` \r`). An echo is recognised when either reading ends in what was typed.
 */
import { isWord } from "./typedLines.ts";

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
    this.hasMoved = true;
    this.#cursor = Math.max(0, this.#cursor + columns);
  }

  column(column: number): void {
    this.hasMoved = true;
    this.#cursor = column;
    // readline's way over the edge: a blank that makes the terminal wrap, and back to the first column.
    if (column === 0 && this.#printed.at(-1)?.character === " ") this.#printed.pop();
  }

  erase(which: number): void {
    this.hasMoved = true;
    if (which === 0) this.#cells.length = Math.min(this.#cells.length, this.#cursor);
    else if (which === 2) this.#cells.length = 0;
    else for (const cell of this.#cells.slice(0, this.#cursor + 1)) cell.character = UNKNOWN;
  }

  shift(columns: number): void {
    this.hasMoved = true;
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
  }

  /** Where the echo of all of `typed` begins when the row ends in it, blanks at the end aside. */
  endsWith(typed: readonly string[]): number | undefined {
    const wanted = trimEnd(typed);
    for (const reading of this.#readings()) {
      const trimmed = trimCells(reading.cells);
      const from = trimmed.length - wanted.length;
      if (isTail({ ...reading, cells: trimmed }, wanted, wanted.length)) return trimmed[from]?.at ?? this.start;
    }
    return undefined;
  }

  /** Ends in a beginning of `typed` and one blank: the blank may be half of a wrap (` \r`). */
  mayWrap(typed: readonly string[]): boolean {
    if (this.#printed.at(-1)?.character !== " ") return false;
    return longestTail({ cells: this.#printed.slice(0, -1), origin: 0 }, typed) > 0;
  }

  /** The longest beginning of `typed` that the row ends in, and where it begins. */
  beginningOf(typed: readonly string[]): { readonly length: number; readonly at: number } | undefined {
    let best: { length: number; at: number } | undefined;
    for (const reading of this.#readings()) {
      const length = longestTail(reading, typed);
      if (length <= (best?.length ?? 0)) continue;
      best = { length, at: reading.cells[reading.cells.length - length]?.at ?? this.start };
    }
    return best;
  }

  /** All that was printed, the row as displayed, and the row up to the cursor (a suggestion may follow). */
  #readings(): readonly Reading[] {
    return [
      { cells: this.#printed, origin: 0 },
      { cells: this.#cells, origin: this.#origin },
      { cells: this.#cells.slice(0, this.#cursor), origin: this.#origin },
    ];
  }
}

interface Reading {
  readonly cells: readonly Cell[];
  /** Where typing began, whatever is before it. */
  readonly origin: number;
}

const trimEnd = (characters: readonly string[]): readonly string[] => {
  let end = characters.length;
  while (end > 1 && characters[end - 1] === " ") end--;
  return characters.slice(0, end);
};

function trimCells(cells: readonly Cell[]): readonly Cell[] {
  let end = cells.length;
  while (end > 0 && cells[end - 1]?.character === " ") end--;
  return cells.slice(0, end);
}

/**
 * Whether the cells end in the first `length` characters of `typed`, at a place where typing can begin: where it did,
 * at the row's start, or after anything but a letter or digit, which is how prompts end.
 */
function isTail({ cells, origin }: Reading, typed: readonly string[], length: number): boolean {
  const from = cells.length - length;
  if (from < 0 || length === 0) return false;
  for (let index = length - 1; index >= 0; index--) {
    if (cells[from + index]?.character !== typed[index]) return false;
  }
  return from === 0 || from === origin || !isWord(cells[from - 1]?.character ?? "");
}

function longestTail(reading: Reading, typed: readonly string[]): number {
  for (let length = Math.min(typed.length, reading.cells.length); length > 0; length--) {
    if (isTail(reading, typed, length)) return length;
  }
  return 0;
}
