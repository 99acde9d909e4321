/**
 * A screen as the bytes that draw it: rows as tmux captured them, then the modes, the cursor and an unfinished
 * sequence, in an order in which no step disturbs an earlier one. Pure; `snapshot.ts` asks tmux.
 */
import { DEFAULT_PEN, penAfter, sgrOf } from "../pen.ts";
import type { StreamModes } from "../vt/streamModes.ts";
import { columnsIn, expandTabs, hasWide, type TabLayout } from "./tabCells.ts";

/** Rows of one screen. Attributes carry over from a row to the next. */
export interface CapturedScreen {
  readonly rows: readonly string[];
  /** The same text without attributes, wrapped rows joined. */
  readonly joined: readonly string[];
}

/** What tmux's formats say about a pane's screen. */
export interface ScreenFlags {
  readonly cols: number;
  readonly rows: number;
  /** `cols` when the next character will wrap to the next row. */
  readonly cursorCol: number;
  readonly cursorRow: number;
  readonly alternateScreen: boolean;
  /** Where the cursor was before the alternate screen; undefined when that was not saved. */
  readonly savedCursor: { readonly col: number; readonly row: number } | undefined;
  readonly regionTop: number;
  readonly regionBottom: number;
  /** Private and ANSI modes in force, such as `?1` and `4`. */
  readonly modes: readonly string[];
  readonly applicationKeypad: boolean;
  readonly originMode: boolean;
  readonly cursorVisible: boolean;
  readonly wraps: boolean;
  /** Columns of the tab stops; undefined for the usual ones. */
  readonly tabs: readonly number[] | undefined;
}

interface PaintInput {
  readonly shown: CapturedScreen;
  /** The normal screen behind an alternate one. */
  readonly saved: CapturedScreen;
  readonly flags: ScreenFlags;
  readonly stream: StreamModes;
  /** History: how many rows of this width, and the bytes that print them (`HistoryPainter`). */
  readonly history?: { readonly rows: number; readonly text: string } | undefined;
  /** The unfinished sequence or character that the next output completes. */
  readonly pending: Uint8Array;
}

const ESC = "\u001b";
const CSI = `${ESC}[`;
const encoder = new TextEncoder();

/** Attributes and character-set shifts in a captured row. */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const NOT_TEXT = /\u001b\[[0-9;:]*m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u000e\u000f]/g;

/** A blank at a row's end. */
const LAST_BLANK = new RegExp(` ((?:${NOT_TEXT.source})*)$`);

export function paintScreen(input: PaintInput): Uint8Array {
  const { shown, saved, flags, stream } = input;
  // Captured line drawing comes as SO, letters, SI: G1 must be line drawing while rows are painted.
  let out = `${ESC}c${ESC})0`;
  if (input.history !== undefined) out += scrolledAway(input.history, flags);
  if (flags.alternateScreen) {
    const home = flags.savedCursor;
    out += paintRows(saved, flags) + sgrOf(stream.savedPen ?? DEFAULT_PEN);
    out += home === undefined ? `${CSI}?47h` : `${cursorTo(home.row, home.col)}${CSI}?1049h`;
  }
  out += sgrOf(DEFAULT_PEN) + paintRows(shown, flags) + paintTabs(flags);
  const isFullRegion = flags.regionTop === 0 && flags.regionBottom === flags.rows - 1;
  if (!isFullRegion) out += `${CSI}${flags.regionTop + 1};${flags.regionBottom + 1}r`;
  if (flags.originMode) out += `${CSI}?6h`;
  out += paintCursor(shown, flags);
  for (const mode of flags.modes) out += `${CSI}${mode}h`;
  if (!flags.wraps) out += `${CSI}?7l`;
  if (!flags.cursorVisible) out += `${CSI}?25l`;
  if (flags.applicationKeypad) out += `${ESC}=`;
  if (stream.bracketedPaste) out += `${CSI}?2004h`;
  if (stream.focusReports) out += `${CSI}?1004h`;
  if (stream.cursorStyle !== 0) out += `${CSI}${stream.cursorStyle} q`;
  out += `${ESC}(${stream.g0}${ESC})${stream.g1}${stream.shifted ? "\u000e" : "\u000f"}${sgrOf(stream.pen)}`;
  const painted = encoder.encode(out);
  const data = new Uint8Array(painted.length + input.pending.length);
  data.set(painted);
  data.set(input.pending, painted.length);
  return data;
}

/** Its lines wrap and scroll as they are printed; then enough line ends to push the last of them off the screen. */
function scrolledAway({ rows, text }: NonNullable<PaintInput["history"]>, flags: ScreenFlags): string {
  const left = Math.min(rows, flags.rows - 1);
  return `${text}\u000f${cursorTo(flags.rows - 1, 0)}${"\n".repeat(left)}${cursorTo(0, 0)}`;
}

const cursorTo = (row: number, col: number): string => `${CSI}${row + 1};${col + 1}H`;

/** A row that tmux wrapped is followed by the next without moving, so that the emulator wraps it too, if it is full. */
function paintRows(screen: CapturedScreen, layout: TabLayout): string {
  const wrapped = wrappedRows(screen);
  let out = "";
  let before = "";
  screen.rows.forEach((row, index) => {
    const cells = fitted(row, layout);
    const goesOn = index > 0 && wrapped[index - 1] === true && isFull(before, cells, layout);
    if (cells !== "") out += goesOn ? cells : `${cursorTo(index, 0)}${cells}`;
    before = cells;
  });
  return out === "" ? "" : `${sgrOf(DEFAULT_PEN)}${out}\u000f`;
}

/** A row that was emptied after it had wrapped is not, nor is one that tmux has wrapped too early (docs/tmuxFacts.md 63). */
function isFull(row: string, next: string, { cols }: TabLayout): boolean {
  const left = cols - columnsIn(row);
  const [first = ""] = next.replace(NOT_TEXT, "");
  return left <= 0 || (left === 1 && columnsIn(first) === 2);
}

/** A row that lost half of a wide character is captured with more columns than it has: its last blanks are not printed. */
function fitted(row: string, layout: TabLayout): string {
  let cells = expandTabs(row, layout);
  if (!hasWide(cells)) return cells;
  for (let over = columnsIn(cells) - layout.cols; over > 0; over -= 1) cells = cells.replace(LAST_BLANK, "$1");
  return cells;
}

/**
 * For each row, whether it continues in the next: a joined line holds the rows it was made of, each up to its last written
 * cell. From 3.4 on a row itself has blanks behind that, such as for a wide character that did not fit.
 */
export function wrappedRows({ rows, joined }: CapturedScreen): boolean[] {
  const texts = rows.map((row) => row.replace(NOT_TEXT, ""));
  const wrapped: boolean[] = [];
  let index = 0;
  for (const line of joined) {
    let rest = line;
    while (index + 1 < rows.length && !texts[index]!.startsWith(rest)) {
      wrapped[index] = true;
      rest = rest.slice(writtenCells(texts[index]!, texts[index + 1]!, rest));
      index += 1;
    }
    wrapped[index] = false;
    index += 1;
  }
  return wrapped;
}

/** How much of a row is in its line: as much as leaves what the next row begins with. */
function writtenCells(row: string, next: string, line: string): number {
  const text = next.trimEnd();
  for (let length = row.length; length >= row.trimEnd().length; length -= 1) {
    if (line.startsWith(text, length)) return length;
  }
  return row.length;
}

function paintCursor({ rows }: CapturedScreen, flags: ScreenFlags): string {
  const top = flags.originMode ? flags.regionTop : 0;
  const row = flags.cursorRow - top;
  if (flags.cursorCol < flags.cols) return cursorTo(row, flags.cursorCol);
  // The last column is written and the wrap is still to come: only rewriting the row restores that state.
  const before = rows.slice(0, flags.cursorRow).join("");
  const shift = before.lastIndexOf("\u000e") > before.lastIndexOf("\u000f") ? "\u000e" : "";
  return `${cursorTo(row, 0)}${sgrOf(penAfter(before))}${shift}${fitted(rows[flags.cursorRow] ?? "", flags)}\u000f`;
}

function paintTabs({ tabs }: ScreenFlags): string {
  if (tabs === undefined) return "";
  return `${CSI}3g${tabs.map((col) => `${CSI}${col + 1}G${ESC}H`).join("")}`;
}
