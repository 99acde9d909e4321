/**
 * A terminal's screen as lines for a narrow place: what the terminal had wrapped is one line again, so that it can be wrapped
 * to another width. Lines are text with attributes; what is in them is foreign.
 */
import type { IBuffer, IBufferCell } from "@xterm/headless";

interface Run {
  readonly text: string;
  /** CSS colours; undefined: the screen's own. */
  readonly colour: string | undefined;
  readonly ground: string | undefined;
  /** Space-separated, of the style sheet. */
  readonly classes: string;
}

interface ReflowedLine {
  readonly runs: readonly Run[];
  /** A line across the whole screen: it is not wrapped but as wide as its place. */
  readonly isRule: boolean;
  /** The same for the same line. */
  readonly key: string;
}

/** Rows above the screen that are shown as well: some screens of a phone. */
const MAX_HISTORY_ROWS = 200;
const RULE = /^[─━═╌┄▔▁]{8,}$/u;
const FRAMED = /^\s*[│┃║].*\s[│┃║]\s*$/u;

/** xterm's own palette. */
const PALETTE = (
  "#2e3436 #cc0000 #4e9a06 #c4a000 #3465a4 #75507b #06989a #d3d7cf " +
  "#555753 #ef2929 #8ae234 #fce94f #729fcf #ad7fa8 #34e2e2 #eeeeec"
).split(" ");
const STEPS = [0, 95, 135, 175, 215, 255];

interface Screen {
  readonly buffer: IBuffer;
  readonly rows: number;
  readonly hasCursor: boolean;
}

export function reflowedLines({ buffer, rows, hasCursor }: Screen): ReflowedLine[] {
  const { baseY, cursorX } = buffer;
  const cursorRow = baseY + buffer.cursorY;
  const lines: ReflowedLine[] = [];
  let cells: Run[] = [];
  for (let row = Math.max(0, baseY - MAX_HISTORY_ROWS); row < baseY + rows; row += 1) {
    const goesOn = buffer.getLine(row + 1)?.isWrapped === true && row + 1 < baseY + rows;
    const cursor = hasCursor && row === cursorRow ? cursorX : undefined;
    for (const cell of cellsOf(buffer, row, cursor, goesOn)) cells.push(cell);
    if (goesOn) continue;
    lines.push(lineOf(cells));
    cells = [];
  }
  while (lines.length > 0 && lines.at(-1)!.key === "") lines.pop();
  return lines;
}

/** Each cell as a run of its own, up to the last that shows anything. */
function cellsOf(buffer: IBuffer, row: number, cursor: number | undefined, goesOn: boolean): readonly Run[] {
  const line = buffer.getLine(row);
  const runs: Run[] = [];
  if (line === undefined) return runs;
  const cell = buffer.getNullCell();
  let shown = 0;
  for (let col = 0; col < line.length; col += 1) {
    line.getCell(col, cell);
    // The second half of a wide character.
    if (cell.getWidth() === 0) continue;
    const chars = cell.isInvisible() === 0 ? cell.getChars() : "";
    runs.push(runOf(cell, chars === "" ? " " : chars, col === cursor));
    // A wide character that did not fit left an empty cell behind.
    if (
      (goesOn && chars !== "") ||
      chars.trim() !== "" ||
      !cell.isBgDefault() ||
      cell.isInverse() !== 0 ||
      col === cursor
    )
      shown = runs.length;
  }
  return runs.slice(0, shown);
}

function runOf(cell: IBufferCell, text: string, isCursor: boolean): Run {
  const bright = cell.isBold() !== 0 && cell.isFgPalette() && cell.getFgColor() < 8 ? 8 : 0;
  const front = cell.isFgDefault() ? undefined : colourOf(cell.isFgRGB(), cell.getFgColor() + bright);
  const back = cell.isBgDefault() ? undefined : colourOf(cell.isBgRGB(), cell.getBgColor());
  const isInverse = (cell.isInverse() !== 0) !== isCursor;
  const classes = [
    isInverse ? "inverse" : "",
    cell.isBold() === 0 ? "" : "bold",
    cell.isDim() === 0 ? "" : "dim",
    cell.isItalic() === 0 ? "" : "italic",
    cell.isUnderline() === 0 ? "" : "underlined",
    cell.isStrikethrough() === 0 ? "" : "struck",
  ];
  const [colour, ground] = isInverse ? [back, front] : [front, back];
  return { text, colour, ground, classes: classes.filter(Boolean).join(" ") };
}

function colourOf(isRgb: boolean, colour: number): string {
  if (isRgb) return `#${colour.toString(16).padStart(6, "0")}`;
  if (colour < 16) return PALETTE[colour]!;
  if (colour >= 232) return `rgb(${[1, 1, 1].map(() => 8 + (colour - 232) * 10).join(" ")})`;
  const at = colour - 16;
  return `rgb(${[Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => STEPS[step]).join(" ")})`;
}

function lineOf(cells: readonly Run[]): ReflowedLine {
  const text = cells.map((cell) => cell.text).join("");
  const isFramed = FRAMED.test(text);
  // The right side of a frame would stand in a row of its own.
  const shown = isFramed
    ? cells.slice(
        0,
        cells.findLastIndex((cell) => /[│┃║]/u.test(cell.text)),
      )
    : cells;
  const runs: Run[] = [];
  for (const cell of isFramed ? trimmed(shown) : shown) {
    const last = runs.at(-1);
    const isSame = last?.colour === cell.colour && last?.ground === cell.ground && last?.classes === cell.classes;
    if (last !== undefined && isSame) runs[runs.length - 1] = { ...last, text: last.text + cell.text };
    else runs.push(cell);
  }
  const key = runs.map((run) => `${run.colour ?? ""};${run.ground ?? ""};${run.classes};${run.text}`).join("\u0000");
  return { runs, isRule: RULE.test(text.trim()), key };
}

const trimmed = (cells: readonly Run[]): readonly Run[] =>
  cells.slice(0, cells.findLastIndex(({ text, ground }) => text !== " " || ground !== undefined) + 1);
