/**
 * From 3.6 on tmux stores a TAB and prints it in a capture; earlier versions printed the blanks on the screen
 * (docs/tmuxFacts.md, Versions). Here a captured row gets its blanks back. How wide a TAB was when it was printed is
 * unknown: it is taken to reach the next current tab stop. Where a row has since been rewrapped, or shifted by inserted
 * characters, there can be more or fewer blanks than on the screen.
 */

export interface TabLayout {
  readonly cols: number;
  /** Columns of the tab stops; undefined for every eighth. */
  readonly tabs: readonly number[] | undefined;
}

/** `#{pane_tabs}`: the columns, or undefined when they are the usual ones. */
export function decodeTabs(list: string, cols: number): readonly number[] | undefined {
  const tabs = list.split(",").flatMap((col) => (col === "" ? [] : [Number(col)]));
  const isUsual = tabs.length === Math.floor((cols - 1) / 8) && tabs.every((col, index) => col === (index + 1) * 8);
  return isUsual ? undefined : tabs;
}

/** A row, or several joined, with blanks in place of TABs; TABs at its end show nothing on the screen. */
export function expandTabs(row: string, layout: TabLayout): string {
  if (!row.includes("\t")) return row;
  const { cols } = layout;
  let out = "";
  let col = 0;
  for (const [piece] of row.replace(TABS_AT_END, "$1").matchAll(PIECES)) {
    if (piece === "\t") {
      const width = Math.max(1, nextStop(col, layout) - col);
      out += " ".repeat(width);
      col = (col % cols) + width;
      continue;
    }
    out += piece;
    if (NOT_PRINTED.test(piece)) continue;
    for (const width of characterWidths(piece)) {
      // A character that does not fit is the first of the next row.
      col = width > 0 && col + width > cols ? width : col + width;
    }
  }
  return out;
}

/** Whether a row has characters that take two columns. */
export const hasWide = (row: string): boolean => WIDE.test(row) || ONE_EMOJI.test(row);

/** Columns that a row without TABs takes. */
export function columnsIn(row: string): number {
  let columns = 0;
  for (const [piece] of row.matchAll(PIECES)) {
    if (NOT_PRINTED.test(piece)) continue;
    if (ASCII.test(piece)) columns += piece.length;
    else for (const width of characterWidths(piece)) columns += width;
  }
  return columns;
}

/** input.c: the next stop, or the last column. */
function nextStop(col: number, { cols, tabs }: TabLayout): number {
  const at = col % cols;
  const stop = tabs === undefined ? (Math.floor(at / 8) + 1) * 8 : (tabs.find((tab) => tab > at) ?? cols);
  return col - at + Math.min(stop, cols - 1);
}

/** Attributes, links and character-set shifts; TABs; and what is printed between them. */
const PIECES =
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  /\u001b\[[0-9;:]*m|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[\u000e\u000f]|\t|[^\t\u001b\u000e\u000f]+|\u001b/g;
// oxlint-disable-next-line no-control-regex -- as above
const NOT_PRINTED = /^[\u001b\u000e\u000f]/;
// oxlint-disable-next-line no-control-regex -- as above
const TABS_AT_END = /\t+((?:\u001b\[[0-9;:]*m)*)$/;
// oxlint-disable-next-line no-control-regex -- as above
const ASCII = /^[\u0000-\u007f]*$/;

const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18cff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;
const WITHOUT_WIDTH = /(?!\u00ad)[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]/u;
/** tmux makes one wide character of a joined or coloured emoji, of one with a variation selector, and of a flag. */
const ONE_EMOJI = /\u200d|\ufe0f|\p{Emoji_Modifier}|\p{Regional_Indicator}{2}/u;
const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const widthOf = (character: string): number => (WITHOUT_WIDTH.test(character) ? 0 : WIDE.test(character) ? 2 : 1);

function* characterWidths(text: string): Generator<number> {
  if (ASCII.test(text)) {
    for (let at = 0; at < text.length; at += 1) yield 1;
    return;
  }
  // The segmenter takes twenty times as long.
  if (!ONE_EMOJI.test(text)) {
    for (const character of text) yield widthOf(character);
    return;
  }
  for (const { segment } of graphemes.segment(text)) {
    if (ONE_EMOJI.test(segment)) yield 2;
    else for (const character of segment) yield widthOf(character);
  }
}
