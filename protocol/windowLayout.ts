/**
 * tmux's layout string of a window (`#{window_layout}`): a checksum, then nested cells down to the panes, such as
 * `bb62,159x48,0,0{79x48,0,0,1,79x48,80,0,2}`. Parsing returns a complete tree or undefined. It contains only ids and numbers,
 * so no program can influence it.
 */
import { type PaneId, paneIdOf } from "./ids.ts";

interface Cell {
  readonly cols: number;
  readonly rows: number;
  /** The upper left corner, within the window. */
  readonly left: number;
  readonly top: number;
}

/** A pane's cell. tmux also accepts a layout without pane numbers, which the panes fill in order. */
interface LayoutPane extends Cell {
  readonly kind: "pane";
  readonly pane: PaneId | null;
}

/** `row`: its cells are side by side (tmux writes `{}`); `column`: one below another (`[]`). */
interface LayoutSplit extends Cell {
  readonly kind: "row" | "column";
  readonly cells: readonly LayoutCell[];
}

export type LayoutCell = LayoutPane | LayoutSplit;

/** Deeper than any window, because each level takes at least two columns or rows. */
const MAX_DEPTH = 512;
const MAX_CELLS = 10_000;
/** `WxH,X,Y`, followed by a pane's number unless that is the width of the next cell. */
const CELL = /(\d{1,5})x(\d{1,5}),(\d{1,5}),(\d{1,5})(?:,(\d{1,10})(?!\d*x))?/y;

/** The four digits before a layout (layout-custom.c `layout_checksum`). */
export function layoutChecksum(cells: string): string {
  let sum = 0;
  for (let at = 0; at < cells.length; at += 1) sum = ((sum >> 1) + ((sum & 1) << 15) + cells.charCodeAt(at)) & 0xffff;
  return sum.toString(16).padStart(4, "0");
}

/** Undefined for text that is not a layout, has a wrong checksum, or has cells that do not fill their parent. */
export function parseLayout(text: string): LayoutCell | undefined {
  const body = text.slice(5);
  if (text[4] !== "," || text.slice(0, 4) !== layoutChecksum(body)) return undefined;
  const reader = { text: body, at: 0, cells: 0 };
  const root = readCell(reader, 0);
  return root !== undefined && reader.at === body.length && isFilled(root) ? root : undefined;
}

/** The panes, in the order of the layout. */
export function panesOfLayout(cell: LayoutCell): readonly LayoutPane[] {
  return cell.kind === "pane" ? [cell] : cell.cells.flatMap(panesOfLayout);
}

function readCell(reader: { readonly text: string; at: number; cells: number }, depth: number): LayoutCell | undefined {
  CELL.lastIndex = reader.at;
  const found = CELL.exec(reader.text);
  reader.cells += 1;
  if (found === null || depth > MAX_DEPTH || reader.cells > MAX_CELLS) return undefined;
  const [whole, cols, rows, left, top, pane] = found;
  reader.at += whole.length;
  const place = { cols: Number(cols), rows: Number(rows), left: Number(left), top: Number(top) };
  const open = pane === undefined ? reader.text[reader.at] : undefined;
  if (open !== "{" && open !== "[") {
    return { kind: "pane", ...place, pane: pane === undefined ? null : paneIdOf(Number(pane)) };
  }
  const cells: LayoutCell[] = [];
  do {
    reader.at += 1;
    const cell = readCell(reader, depth + 1);
    if (cell === undefined) return undefined;
    cells.push(cell);
  } while (reader.text[reader.at] === ",");
  if (reader.text[reader.at] !== (open === "{" ? "}" : "]")) return undefined;
  reader.at += 1;
  return { kind: open === "{" ? "row" : "column", ...place, cells };
}

/** Whether the cells, with one column or row of border between them, fill their parent. */
function isFilled(cell: LayoutCell): boolean {
  if (cell.cols < 1 || cell.rows < 1) return false;
  if (cell.kind === "pane") return true;
  const isRow = cell.kind === "row";
  let at = isRow ? cell.left : cell.top;
  for (const inner of cell.cells) {
    const fits = isRow
      ? inner.left === at && inner.top === cell.top && inner.rows === cell.rows
      : inner.top === at && inner.left === cell.left && inner.cols === cell.cols;
    if (!fits || !isFilled(inner)) return false;
    at += (isRow ? inner.cols : inner.rows) + 1;
  }
  return at - 1 === (isRow ? cell.left + cell.cols : cell.top + cell.rows);
}
