/**
 * What a person has typed into a prompt box, without what the program writes there itself: hints are drawn dim (the first
 * letter of one under the cursor, inverse), or in a colour (`ghost`), or are known to the profile. A mode (`!`) stands before the text: even an empty
 * box in a mode is not empty, because a text in it would be no prompt.
 */
import { applySgr, DEFAULT_PEN, type Pen } from "../../panes/pen.ts";
import type { Profile } from "../../readiness/profile.ts";
import type { PromptBox } from "../../readiness/promptBox.ts";
import type { ScreenRow } from "../../readiness/screenRows.ts";

/** Trimmed, rows by line ends; empty when nobody has typed into it. Foreign text. */
export function typedText(
  profile: Profile,
  rows: readonly ScreenRow[],
  { first, last, text, mode }: PromptBox,
): string {
  const pens = pensAt(rows, first);
  const typed: string[] = [];
  let pen = pens;
  let isGhost = profile.screen.promptBox?.ghost === true;
  for (let index = first; index <= last; index += 1) {
    const row = rows[index]!;
    const cells: Cell[] = [];
    pen = readRow(row.styled, pen, cells);
    const shown = text[index - first] ?? "";
    const from = row.column + row.text.length - shown.length;
    const written = cells.slice(from, from + shown.length);
    isGhost &&= isSuggested(written, index === first);
    typed.push(withoutHint(written, shown));
  }
  const all = typed.join("\n").trim();
  // A narrow pane wraps it.
  const line = all.replaceAll(/\s+/g, " ");
  const isHint = isGhost || profile.screen.promptBox?.hints.some((hint) => hint.test(line)) === true;
  return isHint ? mode : mode + all;
}

interface Cell {
  readonly letter: string;
  readonly isDim: boolean;
  readonly isInverse: boolean;
  readonly isUnderlined: boolean;
  readonly isColoured: boolean;
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const SEQUENCE = /\u001b(?:\[([0-9;:]*)([A-Za-z])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[()][0-9A-Z])|[\u000e\u000f]/g;

/** Attributes go on from one captured row to the next. */
function pensAt(rows: readonly ScreenRow[], until: number): Pen {
  let pen = DEFAULT_PEN;
  for (const { styled } of rows.slice(0, until)) pen = readRow(styled, pen);
  return pen;
}

/** Returns the pen after it. */
function readRow(styled: string, before: Pen, cells?: Cell[]): Pen {
  let pen = before;
  let at = 0;
  const letters = (until: number): void => {
    if (cells === undefined) return;
    for (; at < until; at += 1) {
      const [isDim, isInverse] = [pen.has("dim"), pen.has("inverse")];
      const [isUnderlined, isColoured] = [pen.has("underline"), pen.has("fg")];
      cells.push({ letter: styled[at]!, isDim, isInverse, isUnderlined, isColoured });
    }
  };
  for (const match of styled.matchAll(SEQUENCE)) {
    letters(match.index);
    at = match.index + match[0].length;
    if (match[2] === "m") pen = applySgr(pen, match[1] ?? "");
  }
  letters(styled.length);
  return pen;
}

/** @param shown what to return where the row has no attributes to go by */
function withoutHint(cells: readonly Cell[], shown: string): string {
  if (!cells.some(({ isDim }) => isDim)) return shown;
  const solid = cells.filter(({ isDim, letter }) => !isDim && letter.trim() !== "");
  if (solid.length === 1 && solid[0]!.isInverse) return "";
  return cells
    .map(({ letter, isDim }) => (isDim ? "" : letter))
    .join("")
    .trimEnd();
}

/** What a person types has a colour only as a whole word at most, and the cursor behind it. */
function isSuggested(cells: readonly Cell[], hasCursor: boolean): boolean {
  const ink = cells.filter(({ letter }) => letter.trim() !== "");
  const [under] = ink;
  const rest = hasCursor ? ink.slice(1) : ink;
  const isCursor = !hasCursor || (under?.isUnderlined === true && !under.isColoured);
  return isCursor && rest.length > 0 && rest.every(({ isColoured, isUnderlined }) => isColoured && !isUnderlined);
}
