/** Rows in columns, for people. Foreign text (titles, names, paths) cannot control the terminal it is shown on. */

/** `text` without control and format characters. */
export const printable = (text: string): string =>
  // Most text is plain ASCII; the first use of Unicode classes costs a process a millisecond.
  /^[ -~]*$/.test(text) ? text : text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");

/** The text as one line that cannot control a terminal, whatever it quotes. */
export const oneLine = (text: string): string => text.replace(/\s*[\r\n]+\s*/g, " ").replace(/[\p{Cc}\p{Cf}]/gu, "�");

const lengthOf = (text: string): number => Array.from(text).length;

/** Every column but the last as wide as its widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map(printable));
  const widths = head.map((_, column) => Math.max(...all.map((row) => lengthOf(row[column] ?? ""))));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column === row.length - 1 ? cell : cell + " ".repeat((widths[column] ?? 0) - lengthOf(cell)),
      )
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}
