/**
 * Where a column of a terminal row is in its text. Wide and combining characters as terminals commonly count them; for the
 * few that they disagree on the result is off by one, which callers must tolerate.
 */

/** East Asian wide and fullwidth characters, and emoji drawn as pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const COMBINING = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** The text before and from a column, as if the row continued with blanks. */
export function splitAtColumn(text: string, column: number): { readonly before: string; readonly after: string } {
  let at = 0;
  let index = 0;
  for (const character of text) {
    const isCombining = COMBINING.test(character);
    if (at >= column && !isCombining) break;
    at += isCombining ? 0 : WIDE.test(character) ? 2 : 1;
    index += character.length;
  }
  return { before: text.slice(0, index) + " ".repeat(Math.max(0, column - at)), after: text.slice(index) };
}

/** Columns that the text takes. */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += COMBINING.test(character) ? 0 : WIDE.test(character) ? 2 : 1;
  return columns;
}
