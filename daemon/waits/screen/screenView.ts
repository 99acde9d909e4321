/**
 * What is on a pane's screen now and was not when a wait began: two captures, compared row by row. A row counts when
 * its text differs from that of the same row at the beginning; how far the screen has scrolled says which row is the
 * same. In doubt a row counts as old: the stream, where there is no doubt, is matched as well.
 */
import type { Capture, CaptureOptions } from "../../tmux/io.ts";

/** Takes captures of the pane whose output a wait reads. */
export interface ScreenView {
  capture(options: CaptureOptions): Promise<Capture>;
}

/** Adjoining rows that count, as lines: rows that tmux wrapped are one, blanks at the end are gone. */
export type Stretch = readonly string[];

/** Where the current rows were on the screen of the beginning. */
interface Place {
  /** Rows that have scrolled off since; the current row `y` is the beginning's row `y + scrolled`. */
  readonly scrolled: number;
  /** Nothing of the beginning is left: every row of the screen counts. */
  readonly isFresh: boolean;
}

/** These clear the screen; `clear` and Ctrl-L send the last. */
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const ERASES = /\u001b(?:c|\[2J|\[(?:1;1)?H\u001b\[0?J)/;

export class ScreenBeginning {
  readonly #capture: Capture;
  readonly #rows: readonly string[];

  /** @param capture `whole`, so that its last rows are the screen, blank ones included */
  constructor(capture: Capture) {
    this.#capture = capture;
    this.#rows = screenOf(capture);
  }

  get outputSeq(): number {
    return this.#capture.position.outputSeq;
  }

  /** What was before the cursor. */
  get prompt(): string {
    const { row, col } = this.#capture.cursor;
    return (this.#rows[row] ?? "").slice(0, col);
  }

  /** After a resize the rows are different: new text cannot be distinguished from old. */
  isOfAnotherSize({ cols, rows }: Capture): boolean {
    return cols !== this.#capture.cols || rows !== this.#capture.rows;
  }

  /** @param since output between the beginning and now, as far as it is there; @param wraps by row of `now` */
  newStretches(now: Capture, since: string, wraps: readonly boolean[]): Stretch[] {
    const counts = this.newRows(now, since);
    const stretches: string[][] = [];
    let open: string[] | undefined;
    let goesOn = false;
    now.lines.forEach((row, index) => {
      if (counts[index] !== true) {
        open = undefined;
        goesOn = false;
        return;
      }
      if (open === undefined) stretches.push((open = []));
      if (goesOn) open.push(`${open.pop() ?? ""}${row}`);
      else open.push(row);
      goesOn = wraps[index] === true;
    });
    for (const lines of stretches) {
      lines.forEach((line, index) => (lines[index] = line.trimEnd()));
      while (lines.at(-1) === "") lines.pop();
    }
    return stretches.filter((lines) => lines.length > 0);
  }

  /** By row of `now`, its history included: whether it counts. */
  newRows(now: Capture, since: string): boolean[] {
    const history = now.lines.length - now.rows;
    // What leaving the alternate screen restores was there before, except the cursor's row, where output continues.
    if (this.#capture.alternateScreen && !now.alternateScreen) {
      return now.lines.map((_row, index) => index === history + now.cursor.row);
    }
    const { scrolled, isFresh } = this.#placeOf(now, since);
    return now.lines.map((row, index) => {
      if (isFresh) return index >= history;
      const before = index - history + scrolled;
      return before >= this.#rows.length || (before >= 0 && this.#rows[before] !== row.trimEnd());
    });
  }

  #placeOf(now: Capture, since: string): Place {
    const then = this.#capture;
    if (ERASES.test(since) || (now.alternateScreen && !then.alternateScreen)) return { scrolled: 0, isFresh: true };
    const counted = now.alternateScreen ? 0 : now.historyLines - then.historyLines;
    if (counted >= 0 && this.#fits(now, counted)) return { scrolled: counted, isFresh: false };
    // tmux has dropped history, at its limit or on a command, and the count is wrong: compare the rows themselves.
    for (let rows = 0; rows < then.cursor.row; rows += 1) {
      if (this.#fits(now, rows) && this.#rows.slice(rows, then.cursor.row).some(Boolean)) {
        return { scrolled: rows, isFresh: false };
      }
    }
    return { scrolled: Math.max(0, counted), isFresh: false };
  }

  /** Whether the rows above the cursor, which printing does not change, are where they should be. */
  #fits(now: Capture, scrolled: number): boolean {
    const screen = screenOf(now);
    const above = this.#rows.slice(scrolled, this.#capture.cursor.row);
    return above.every((row, index) => row === "" || row === screen[index]);
  }
}

const screenOf = ({ lines, rows }: Capture): string[] => lines.slice(-rows).map((row) => row.trimEnd());

/**
 * By row, whether it continues in the next. `joined` is the same screen with wrapped rows joined, in which each line
 * holds the rows it was made of, and the blanks that their ends lost. Empty when the two do not agree.
 */
export function wrapsOf(rows: readonly string[], joined: readonly string[]): boolean[] {
  const wraps: boolean[] = [];
  let index = 0;
  for (const line of joined) {
    let rest = line;
    for (;;) {
      const row = rows[index++];
      if (row === undefined || !rest.startsWith(row)) return [];
      rest = rest.slice(row.length);
      if (rest.trim() === "") break;
      wraps[index - 1] = true;
      const next = (rows[index] ?? "").trimStart();
      const at = rest.length - rest.trimStart().length - ((rows[index] ?? "").length - next.length);
      rest = rest.slice(Math.max(0, at));
    }
    wraps[index - 1] = false;
  }
  return index === rows.length ? wraps : [];
}

/** Whether a row may be one that tmux wrapped: it reaches the edge, give or take what a wide character leaves. */
export function mayWrap(row: string, cols: number): boolean {
  // oxlint-disable-next-line no-control-regex -- ASCII is a range of codes
  return row.length >= cols - 1 || (/[^\u0000-\u007f]/.test(row) && row.length * 2 >= cols - 1);
}
