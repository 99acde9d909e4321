/**
 * A captured screen as rules look at it: the last rows up to the last that shows anything, each without the frame that a
 * box draws around it, and what stands in the row of the cursor.
 */
import type { Capture } from "../tmux/io.ts";
import { MAX_ROW_CHARACTERS } from "./profile.ts";

export interface ScreenRow {
  /** Without frame and surrounding blanks. Foreign text, at most `MAX_ROW_CHARACTERS`. */
  readonly text: string;
  /** Column of the first character of `text`. */
  readonly column: number;
  /** Strokes that were taken away at its ends. */
  readonly frame: "none" | "left" | "both";
  /** Columns used, frame included. */
  readonly width: number;
  /** As captured, with its attributes when the capture has them. */
  readonly styled: string;
}

export const BLANK_ROW: ScreenRow = { text: "", column: 0, frame: "none", width: 0, styled: "" };

export interface Screen {
  readonly rows: readonly ScreenRow[];
  readonly cols: number;
  /** Index of the cursor's row; outside of `rows` when it stands above or below them. */
  readonly cursorRow: number;
  /** The cursor's row up to the cursor, a run of blanks at its end as one. */
  readonly beforeCursor: string;
}

/** What is drawn at the right edge of a text that can be scrolled. */
const SCROLLBAR = / [┃█│]$/u;
/** Vertical strokes that frame a row. */
const FRAME = "│┃║▌▐▏▕";

export function screenOf(capture: Pick<Capture, "lines" | "cursor" | "cols">, rowCount: number): Screen {
  const { lines, cursor, cols } = capture;
  const cursorRow = plain(lines[cursor.row] ?? "").padEnd(cursor.col, " ");
  const before = cursorRow.slice(0, cursor.col);
  const ink = before.trimEnd();
  return {
    rows: lines.slice(-rowCount).map(rowOf),
    cols,
    cursorRow: cursor.row - Math.max(0, lines.length - rowCount),
    beforeCursor: ink.length === before.length ? ink : `${ink} `,
  };
}

function rowOf(line: string): ScreenRow {
  const bare = plain(line).trimEnd();
  let end = bare.length;
  let column = startOfInk(bare, 0);
  let frame: ScreenRow["frame"] = "none";
  if (column < end && FRAME.includes(bare[column]!)) {
    frame = "left";
    column = startOfInk(bare, column + 1);
    if (end > column && FRAME.includes(bare[end - 1]!)) {
      frame = "both";
      end -= 1;
    }
  } else if (SCROLLBAR.test(bare)) end -= 1;
  return { text: bare.slice(column, Math.max(column, end)).trimEnd(), column, frame, width: bare.length, styled: line };
}

function startOfInk(text: string, from: number): number {
  let at = from;
  while (at < text.length && text[at] === " ") at += 1;
  return at;
}

/** One row without attributes, cut. */
function plain(line: string): string {
  return (line.includes("\u001b") ? line.replace(SEQUENCES, "") : line).slice(0, MAX_ROW_CHARACTERS);
}

/** What `capture-pane -e` writes between characters: attributes, links, character sets. */
// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const SEQUENCES = /\u001b(?:\[[0-9;:]*[A-Za-z]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-Z])|[\u000e\u000f]/g;
