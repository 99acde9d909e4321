/** Rows in columns, for people. Foreign text (titles, names, paths) cannot control the terminal it is shown on. */
import { columnsOf } from "../../daemon/panes/columns.ts";

/** Most text is; the first use of Unicode classes costs a process a millisecond. */
const isPlain = (text: string): boolean => /^[ -~]*$/.test(text);

/** `text` without control and format characters. */
export const printable = (text: string): string =>
  isPlain(text) ? text : text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");

/** The text as one line that cannot control a terminal, whatever it quotes. */
export const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, " ").replace(/[\p{Cc}\p{Cf}]/gu, "�");

const widthOf = (text: string): number => (isPlain(text) ? text.length : columnsOf(text));

/** Every column but the last as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)),
      )
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}
