/** Where on the screen a program takes its prompt. */
import type { Profile } from "./profile.ts";
import type { ScreenRow } from "./screenRows.ts";

export interface PromptBox {
  /** Indices into the rows that were given; both ends belong to the box. */
  readonly first: number;
  readonly last: number;
  /** What stands in it, row by row, without the prefix. Foreign text. */
  readonly text: readonly string[];
  /** A text in it would be no prompt but something else (`!`: a shell's command). */
  readonly mode: string;
}

/** The lowest box on the screen; undefined when none is drawn or the profile knows of none. */
export function findPromptBox({ screen }: Profile, rows: readonly ScreenRow[]): PromptBox | undefined {
  const { promptBox } = screen;
  if (promptBox === undefined) return undefined;
  const { prefix, above, below, footer, mode } = promptBox;
  if (footer !== undefined) return findFramed(rows, footer, below, mode);
  let bottom = rows.length;
  for (let index = rows.length - 1; index >= 0; index -= 1) {
    const { text } = rows[index]!;
    if (below?.test(text) === true) bottom = index;
    const match = prefix.exec(text);
    if (match === null || index === bottom) continue;
    if (above !== undefined && !above.test(rows[index - 1]?.text ?? "")) continue;
    if (below !== undefined && bottom === rows.length) continue;
    const last = below === undefined ? lastOfBlock(rows, index) : bottom - 1;
    const typed = rows.slice(index, last + 1).map((row) => row.text);
    typed[0] = text.slice(match[0].length);
    return { first: index, last, text: typed, mode: modeOf(mode, match[0]) };
  }
  return undefined;
}

const modeOf = (mode: RegExp | undefined, shown: string): string =>
  mode?.test(shown) === true ? (/^[!#]/.exec(shown.trim())?.[0] ?? "!") : "";

function lastOfBlock(rows: readonly ScreenRow[], from: number): number {
  let last = from;
  while (last + 1 < rows.length && rows[last + 1]!.text !== "") last += 1;
  return last;
}

/** Its rows have a stroke on the left only; a list that is framed on both sides may stand on it. */
function findFramed(
  rows: readonly ScreenRow[],
  footer: RegExp,
  below: RegExp | undefined,
  mode: RegExp | undefined,
): PromptBox | undefined {
  const end = rows.findLastIndex(({ text }) => below?.test(text) === true);
  const foot = rows[end - 1];
  if (foot === undefined || foot.frame !== "left" || !footer.test(foot.text)) return undefined;
  let first = end - 1;
  while (first > 0 && rows[first - 1]!.frame === "left") first -= 1;
  let last = end - 2;
  while (last > first && rows[last]!.text === "") last -= 1;
  while (first < last && rows[first]!.text === "") first += 1;
  if (last < first) return undefined;
  return { first, last, text: rows.slice(first, last + 1).map(({ text }) => text), mode: modeOf(mode, foot.text) };
}
