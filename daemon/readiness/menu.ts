/**
 * The options of a dialog as they stand on the screen: a numbered list with a mark before one of them, a list without
 * numbers, or buttons side by side, of which the chosen one shows by its colours alone.
 */
import { applySgr, DEFAULT_PEN, sgrOf } from "../panes/pen.ts";
import type { Profile } from "./profile.ts";
import type { Screen, ScreenRow } from "./screenRows.ts";

interface MenuOption {
  readonly number: string | undefined;
  readonly label: string;
  /** Ticked or not; undefined where options have no box to tick. */
  readonly checked: boolean | undefined;
}

export interface Menu {
  readonly options: readonly MenuOption[];
  /** The option that Enter would choose; undefined when nothing shows which. */
  readonly marked: number | undefined;
  /** Several may be chosen: Space switches one, Enter goes on. */
  readonly multi: boolean;
  readonly layout: "numbered" | "list" | "buttons";
  /** Where the row of the mark begins; undefined when nothing is marked. */
  readonly markColumn: number | undefined;
  /** Index of its first row. */
  readonly first: number;
  readonly last: number;
}

/** Rows without a number that may stand between two options: descriptions, blanks, a rule. */
const MAX_ROWS_BETWEEN = 4;
const MAX_OPTIONS = 40;
const MAX_LABEL_CHARACTERS = 200;
/** What may stand under a menu: hints. More than that, and it is text that went by. */
const MAX_ROWS_BELOW = 8;

/** The lowest menu in `rows` from `from` on. */
export function findMenu(profile: Profile, { rows, cols }: Screen, from: number): Menu | undefined {
  const menu =
    findNumbered(profile, rows, cols, from) ?? findButtons(profile, rows, from) ?? findList(profile, rows, from);
  if (menu === undefined) return undefined;
  const below = rows.slice(menu.last + 1).filter(({ text }) => text !== "").length;
  return below > MAX_ROWS_BELOW ? undefined : menu;
}

const NUMBERED = /^(\d{1,2})[.)][ \u00a0]+(\S.*)$/u;

function findNumbered(profile: Profile, rows: readonly ScreenRow[], cols: number, from: number): Menu | undefined {
  const { marks } = profile.dialog;
  for (let first = rows.length - 1; first >= from; first -= 1) {
    if (numberedAt(rows[first]!, marks)?.number !== "1") continue;
    const found: { row: number; number: string; label: string; marked: boolean }[] = [];
    for (let index = first; index < rows.length && found.length < MAX_OPTIONS; index += 1) {
      const option = numberedAt(rows[index]!, marks);
      if (option !== undefined && Number(option.number) === found.length + 1) {
        found.push({ row: index, ...option, label: wrapped(rows, index, option.label, cols) });
      } else if (option !== undefined || index - (found.at(-1)?.row ?? index) > MAX_ROWS_BETWEEN) break;
    }
    if (found.length < 2) continue;
    const marked = found.flatMap((entry, index) => (entry.marked ? [index] : []));
    if (marked.length > 1) continue;
    const options = found.map(({ label, number }) => optionOf(label, number));
    return {
      options,
      marked: marked[0],
      multi: options.some(({ checked }) => checked !== undefined),
      layout: "numbered",
      markColumn: marked[0] === undefined ? undefined : rows[found[marked[0]]!.row]!.column,
      first,
      last: found.at(-1)!.row,
    };
  }
  return undefined;
}

function numberedAt(
  { text }: ScreenRow,
  marks: string,
): { number: string; label: string; marked: boolean } | undefined {
  const marked = marks.includes(text[0] ?? " ") && /\s/u.test(text[1] ?? "");
  const match = NUMBERED.exec(marked ? text.slice(1).trimStart() : text);
  return match === null ? undefined : { number: match[1]!, label: cut(match[2]!), marked };
}

/** A label that reached the edge goes on in the next row, set in as deep as it began. */
function wrapped(rows: readonly ScreenRow[], index: number, label: string, cols: number): string {
  const row = rows[index]!;
  const next = rows[index + 1];
  const labelColumn = row.column + row.text.length - label.length;
  const isFull = row.width >= cols * 0.85;
  if (!isFull || next === undefined || next.text === "" || Math.abs(next.column - labelColumn) > 1) return label;
  return cut(`${label} ${next.text}`);
}

const TICK = /^(?:\[[ xX✓✔*]\]|[☐☑☒◯◉◻◼])\s+/u;
/** A label as it is drawn, its box to tick read and taken away. */
function optionOf(drawn: string, number?: string): MenuOption {
  const tick = TICK.exec(drawn)?.[0];
  if (tick === undefined) return { number, label: drawn, checked: undefined };
  return { number, label: drawn.slice(tick.length), checked: !UNTICKED.test(tick) };
}

const UNTICKED = /^(?:\[ \]|[☐◯◻])/u;

/** Before options that are not marked, in lists that draw something there. */
const UNMARKED = /^[○▢][ \u00a0]+/u;

function findList({ dialog }: Profile, rows: readonly ScreenRow[], from: number): Menu | undefined {
  for (let index = rows.length - 1; index >= from; index -= 1) {
    const row = rows[index]!;
    const marked = listLabel(row, dialog.marks);
    if (marked === undefined) continue;
    const isSibling = (other: ScreenRow | undefined): boolean =>
      other !== undefined && other.text !== "" && siblingColumn(other) === marked.column;
    let first = index;
    let last = index;
    while (first > from && isSibling(rows[first - 1])) first -= 1;
    while (last + 1 < rows.length && isSibling(rows[last + 1])) last += 1;
    if (last === first || last - first >= MAX_OPTIONS) continue;
    const labels = rows
      .slice(first, last + 1)
      .map((option, at) => cut(at === index - first ? marked.label : option.text.replace(UNMARKED, "")));
    const options = labels.map((label) => optionOf(label));
    return {
      options,
      marked: index - first,
      multi: options.some(({ checked }) => checked !== undefined),
      layout: "list",
      markColumn: row.column,
      first,
      last,
    };
  }
  return undefined;
}

function listLabel({ text, column }: ScreenRow, marks: string): { label: string; column: number } | undefined {
  if (!marks.includes(text[0] ?? " ") || !/\s/u.test(text[1] ?? "")) return undefined;
  const label = text.slice(1).trimStart();
  return label === "" ? undefined : { label, column: column + text.length - label.length };
}

/** Where the label of an option without a mark begins. */
function siblingColumn({ text, column }: ScreenRow): number {
  return column + (UNMARKED.exec(text)?.[0].length ?? 0);
}

function findButtons({ dialog }: Profile, rows: readonly ScreenRow[], from: number): Menu | undefined {
  if (dialog.buttons.length === 0) return undefined;
  for (let index = rows.length - 1; index >= from; index -= 1) {
    const { text, styled } = rows[index]!;
    const labels = dialog.buttons
      .filter((label) => text.includes(label))
      .sort((a, b) => text.indexOf(a) - text.indexOf(b));
    if (labels.length < 2) continue;
    return {
      options: labels.map((label) => optionOf(label)),
      marked: oddOneOut(labels.map((label) => styleOf(styled, label))),
      multi: false,
      layout: "buttons",
      markColumn: undefined,
      first: index,
      last: index,
    };
  }
  return undefined;
}

interface Style {
  /** As one text, to compare. */
  readonly sgr: string;
  /** It has a background of its own. */
  readonly lit: boolean;
}

// oxlint-disable-next-line no-control-regex -- an escape sequence begins with one
const SGR = /\u001b\[([\d;:]*)m/g;

/** The attributes of a label's first character. */
function styleOf(styled: string, label: string): Style {
  let pen = DEFAULT_PEN;
  for (const [, parameters = ""] of styled.slice(0, Math.max(0, styled.indexOf(label))).matchAll(SGR)) {
    pen = applySgr(pen, parameters);
  }
  return { sgr: sgrOf(pen), lit: pen.has("bg") || pen.has("inverse") };
}

/** The one that looks like no other; of two that differ, the one with a background of its own. */
function oddOneOut(styles: readonly Style[]): number | undefined {
  const odd = styles.flatMap(({ sgr }, index) =>
    styles.filter((other) => other.sgr === sgr).length === 1 ? [index] : [],
  );
  if (odd.length === 1) return odd[0];
  const lit = odd.filter((index) => styles[index]!.lit);
  return lit.length === 1 ? lit[0] : undefined;
}

const cut = (text: string): string => text.slice(0, MAX_LABEL_CHARACTERS);
