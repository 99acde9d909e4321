/** Where on the screen a program takes its prompt. */
import type { Profile } from "./profile.ts";
import type { ScreenRow } from "./screenRows.ts";

export interface PromptBox {
  /** Indices into the rows that were given; both ends belong to the box. */
  readonly first: number;
  readonly last: number;
  /** What stands in it, row by row, without the prefix. Foreign text. */
  readonly text: readonly string[];
}

/** The lowest box on the screen; undefined when none is drawn or the profile knows of none. */
export function findPromptBox({ screen }: Profile, rows: readonly ScreenRow[]): PromptBox | undefined {
  const { promptBox } = screen;
  if (promptBox === undefined) return undefined;
  const { prefix, above, below } = promptBox;
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
    return { first: index, last, text: typed };
  }
  return undefined;
}

function lastOfBlock(rows: readonly ScreenRow[], from: number): number {
  let last = from;
  while (last + 1 < rows.length && rows[last + 1]!.text !== "") last += 1;
  return last;
}
