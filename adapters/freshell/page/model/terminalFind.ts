/** Finds text in a terminal's lines, in cells. Ignores case; wrapped lines are joined. */

/** Of xterm's buffer. */
interface FindLine {
  readonly length: number;
  readonly isWrapped: boolean;
  getCell(column: number): { getChars(): string; getWidth(): number } | undefined;
}
interface FindBuffer {
  readonly length: number;
  lineAt(row: number): FindLine | undefined;
}

interface Place {
  readonly row: number;
  readonly column: number;
  readonly cells: number;
}

export interface Found {
  readonly count: number;
  /** From 1 on; 0 for none. */
  readonly index: number;
  readonly match?: Place | undefined;
}

const MAX_MATCHES = 10_000;

/** @param from the present selection, as xterm has it; finds the next match after it, or the last */
export function matchesIn(
  buffer: FindBuffer,
  text: string,
  from: { readonly x: number; readonly y: number } | undefined,
  step: 1 | -1,
): Found {
  const wanted = text.toLowerCase();
  if (wanted === "") return { count: 0, index: 0 };
  const places: Place[] = [];
  for (let row = 0; row < buffer.length && places.length < MAX_MATCHES;) {
    const logical = logicalLine(buffer, row);
    for (let at = logical.text.indexOf(wanted); at >= 0; at = logical.text.indexOf(wanted, at + 1)) {
      const [first, last] = [logical.cells[at], logical.cells[at + wanted.length - 1]];
      if (first === undefined || last === undefined) break;
      const cells = (last.row - first.row) * logical.columns + last.column + last.width - first.column;
      places.push({ row: first.row, column: first.column, cells });
    }
    row += logical.rows;
  }
  if (places.length === 0) return { count: 0, index: 0 };
  const at = nextOf(places, from, step);
  return { count: places.length, index: at + 1, match: places[at] };
}

function nextOf(
  places: readonly Place[],
  from: { readonly x: number; readonly y: number } | undefined,
  step: 1 | -1,
): number {
  if (from === undefined) return places.length - 1;
  const isBehind = ({ row, column }: Place): boolean => row > from.y || (row === from.y && column > from.x);
  const isBefore = ({ row, column }: Place): boolean => row < from.y || (row === from.y && column < from.x);
  if (step === 1) {
    const next = places.findIndex(isBehind);
    return next < 0 ? 0 : next;
  }
  const before = places.findLastIndex(isBefore);
  return before < 0 ? places.length - 1 : before;
}

interface Cell {
  readonly row: number;
  readonly column: number;
  readonly width: number;
}

/** Maps each code unit of the text to its cell. */
function logicalLine(buffer: FindBuffer, row: number) {
  let text = "";
  const cells: Cell[] = [];
  let rows = 0;
  let columns = 0;
  for (let line = buffer.lineAt(row); line !== undefined; line = buffer.lineAt(row + rows)) {
    if (rows > 0 && !line.isWrapped) break;
    columns = line.length;
    for (let column = 0; column < line.length; column += 1) {
      const cell = line.getCell(column);
      const width = cell?.getWidth() ?? 1;
      // The second half of a wide character.
      if (width === 0) continue;
      const chars = (cell?.getChars() ?? "").toLowerCase() || " ";
      for (let unit = 0; unit < chars.length; unit += 1) cells.push({ row: row + rows, column, width });
      text += chars;
    }
    rows += 1;
  }
  return { text, cells, rows: Math.max(1, rows), columns };
}
