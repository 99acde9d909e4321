/** The tables at the end of a run: aligned for a terminal, or as Markdown to paste into a document. */
import type { BenchRow } from "./figures.ts";

/** Tables in the order of their first rows; a column that a row has not is empty in it. */
export function tablesOf(rows: readonly BenchRow[], isMarkdown: boolean): string {
  const titles = [...new Set(rows.map(({ table }) => table))];
  return titles
    .map((title) => {
      const cells = rows.filter(({ table }) => table === title).map((row) => row.cells);
      const columns = [...new Set(cells.flatMap((row) => Object.keys(row)))];
      const lines = [columns, ...cells.map((row) => columns.map((column) => String(row[column] ?? "")))];
      return isMarkdown ? markdown(title, lines) : aligned(title, lines);
    })
    .join("\n");
}

function aligned(title: string, lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  const text = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at]!))
      .join("  ")
      .trimEnd(),
  );
  return [title, ...text.map((line) => `  ${line}`), ""].join("\n");
}

function markdown(title: string, [head, ...body]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `|${"---|".repeat(head!.length)}`;
  return [`**${title}**`, "", line(head!), rule, ...body.map(line), ""].join("\n");
}
