/** What a question would change in files: as its tool says it, or as the agent has drawn it on its screen. Foreign text. */
import { fieldsOf, textOf } from "../../../../protocol/text/jsonObject.ts";
import type { Edits, FileEdit } from "../../agents/edits.ts";

export type Sign = "+" | "-" | " ";

interface DiffLine {
  readonly sign: Sign;
  readonly text: string;
  /** As the agent has drawn it. */
  readonly number?: string;
}

export type FileDiff = FileEdit<DiffLine>;
export type Diff = Edits<DiffLine>;

const isSign = (char: string | undefined): char is Sign => char === "+" || char === "-" || char === " ";

/** Of the daemon's `diff`; undefined: it knows none. */
export function givenDiff(value: unknown): Diff | undefined {
  const given = fieldsOf(value);
  const files = list(given?.["files"]).flatMap((each): FileDiff[] => {
    const file = fieldsOf(each);
    if (file === undefined) return [];
    const lines = list(file["lines"]).flatMap((line): DiffLine[] => {
      const [sign, text] = [textOf(line)?.[0], textOf(line)?.slice(1) ?? ""];
      return isSign(sign) ? [{ sign, text }] : [];
    });
    return [
      { path: textOf(file["path"]) ?? "", whole: file["whole"] === true, lines, more: Number(file["more"]) || 0 },
    ];
  });
  return files.length === 0 ? undefined : { files, more: Number(given?.["more"]) || 0 };
}

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

interface Drawn {
  /** The question without what is drawn. */
  readonly text: string;
  readonly diff: Diff;
}

/** A line's number, its sign and its text, without the blanks at its ends; a blank line has neither sign nor text. */
const NUMBERED = /^(\d{1,7})(?: ([-+ ])(.*))?$/;
/** What is created is drawn with numbers and without signs. */
const CREATES = /\bcreate\b/i;

/** Lines with numbers and signs, as agents draw them above their question. */
export function drawnDiff(text: string): Drawn | undefined {
  const rows = text.split("\n");
  const found = rows.map((row) => NUMBERED.exec(row.trim()));
  const [first, last] = [found.findIndex((row) => row !== null), found.findLastIndex((row) => row !== null)];
  // The same form has a list of choices: one whose lines all begin with a dash.
  const signs = new Set(found.flatMap((row) => (row === null ? [] : [row[2] ?? " "])));
  if (first < 0 || !(signs.has("+") || (signs.has("-") && signs.has(" ")))) return undefined;
  if (rows.some((row) => /^\d+ [^-+ ]/.test(row.trim())) || CREATES.test(rows.at(-1) ?? "")) return undefined;
  const lines: DiffLine[] = [];
  for (const [at, row] of rows.slice(first, last + 1).entries()) {
    const [, number, sign = " ", shown = ""] = found[first + at] ?? [];
    // Too long for one row, or left out.
    if (number === undefined)
      lines.push({ sign: row === "…" ? " " : (lines.at(-1)?.sign ?? " "), text: row, number: "" });
    else if (isSign(sign)) lines.push({ sign, text: shown, number });
  }
  const [before, after] = [rows.slice(0, first), rows.slice(last + 1)];
  const path = before.findLast((row) => row.trim() !== "")?.trim() ?? "";
  return {
    text: [...before, ...after].join("\n"),
    diff: { files: [{ path, whole: false, lines, more: 0 }], more: 0 },
  };
}
