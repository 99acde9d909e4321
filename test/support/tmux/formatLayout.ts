/** The inverse of `parseLayout`: the text that tmux would write of a tree. */
import { paneNumberOf } from "../../../protocol/ids.ts";
import { type LayoutCell, layoutChecksum } from "../../../protocol/windowLayout.ts";

export function formatLayout(root: LayoutCell): string {
  const body = formatCell(root);
  return `${layoutChecksum(body)},${body}`;
}

function formatCell(cell: LayoutCell): string {
  const place = `${cell.cols}x${cell.rows},${cell.left},${cell.top}`;
  if (cell.kind === "pane") return cell.pane === null ? place : `${place},${paneNumberOf(cell.pane)}`;
  const cells = cell.cells.map(formatCell).join(",");
  return cell.kind === "row" ? `${place}{${cells}}` : `${place}[${cells}]`;
}
