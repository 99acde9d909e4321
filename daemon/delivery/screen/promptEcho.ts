/**
 * Whether a program shows what was typed: its end, or the word that stands for a paste, on the screen now and not before.
 * Boxes wrap text, indent it and draw frames around it, so blanks and frame characters do not count. A text that stood
 * there already counts only where the screen has changed.
 */
import { AnsiStripper, stripRoom } from "../../panes/vt/ansi.ts";
import type { Capture } from "../../tmux/io.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";

export type Screen = Pick<Capture, "lines" | "cursor">;

export interface EchoProbe {
  /** What to look for, without what does not count; the first is the best. */
  readonly needles: readonly string[];
  /** Its end, of which a needle may be the whole. */
  readonly end: string;
  /** The same of its beginning. */
  readonly head: string;
  /** Its beginning, as far as a row can reach. */
  readonly start: string;
  /** Words that stand for a paste; global. */
  readonly placeholders: readonly RegExp[];
  /** The text has nothing but frame characters: they count. */
  readonly keepsFrames: boolean;
}

/** Where it is shown, so that a later look can tell whether it still is. */
export interface EchoPlace {
  readonly row: number;
  /** What the row says there. */
  readonly text: string;
  readonly cursor: Screen["cursor"];
  /** What was found there. */
  readonly needle: string;
}

/** Long enough to be met by chance on no screen, short enough for the narrowest box. */
const NEEDLE_CHARS = 24;
/** A last line of this much is enough by itself; lines before it may have marks of continuation between them. */
const LINE_CHARS = 8;
/** The end of a text that is searched for something to look for. */
const MAX_TAIL_CHARS = 2_048;
/** A shorter last line beside the text's end proves nothing. */
const SHORT_CHARS = 3;

/** Blanks, joiners, marks and skin tones, which terminals drop or draw elsewhere. */
const IGNORED = /[\s\p{Cf}\p{M}\u{1f3fb}-\u{1f3ff}]/gu;
/** Emoji, above all joined ones: of their width and of what follows them, programs and terminals have different views. */
const FRAGILE = /[\p{Extended_Pictographic}\p{Regional_Indicator}]+/u;
/** Box drawing and block elements. */
const FRAMES = /[\u2500-\u259f]/g;

export function significant(text: string, keepsFrames = false): string {
  const plain = text.normalize("NFC").replaceAll(IGNORED, "");
  return keepsFrames ? plain : plain.replaceAll(FRAMES, "");
}

export function echoProbe(text: string, placeholders: readonly RegExp[]): EchoProbe {
  const keepsFrames = significant(text) === "";
  const lastLine = significant(text.trimEnd().split("\n").at(-1) ?? "", keepsFrames);
  const whole = significant(text.slice(-MAX_TAIL_CHARS), keepsFrames);
  const best = lastLine.length >= LINE_CHARS ? lastLine : whole;
  const sturdy = whole.split(FRAGILE).findLast((part) => part.length > SHORT_CHARS) ?? "";
  const needles = [...new Set([best, lastLine, sturdy].map((part) => part.slice(-NEEDLE_CHARS)))];
  return {
    needles: needles.filter((needle, index) => needle !== "" && (index === 0 || needle.length >= SHORT_CHARS)),
    end: whole,
    head: significant(text.trimStart().slice(0, MAX_TAIL_CHARS).split("\n", 1)[0] ?? "", keepsFrames).slice(
      0,
      NEEDLE_CHARS,
    ),
    start: significant(text.trimStart().slice(0, MAX_TAIL_CHARS), keepsFrames),
    placeholders: placeholders.map(({ source, flags }) => new RegExp(source, `${flags.replace("g", "")}g`)),
    keepsFrames,
  };
}

/** Undefined when it is not shown, or was before. */
export function findEcho(probe: EchoProbe, before: Screen, after: Screen): EchoPlace | undefined {
  const changed = changedRows(before.lines, after.lines);
  for (const needle of probe.needles) {
    for (const [old, now] of [
      [before.lines, rowsOf(after.lines)],
      [changed.before.map((row) => before.lines[row] ?? ""), changed.after],
    ] as const) {
      const texts = now.map((row) => significant(after.lines[row] ?? "", probe.keepsFrames));
      const oldText = old.map((line) => significant(line, probe.keepsFrames)).join("");
      if (count(texts.join(""), needle) <= count(oldText, needle)) continue;
      const row = now[rowOfLast(texts, needle)] ?? 0;
      return place(probe, after, row, needle);
    }
  }
  return findPlaceholder(probe, before, after);
}

/** Shown above the box, and was not before: in what the program has taken. A text that is folded shows its beginning. */
export function isInHistory(
  probe: EchoProbe,
  [before, beforeRows]: readonly [Screen, number],
  [after, afterRows]: readonly [Screen, number],
): boolean {
  const cut = ({ lines, cursor }: Screen, rows: number): Screen => ({ lines: lines.slice(0, rows), cursor });
  const [old, now] = [cut(before, beforeRows), cut(after, afterRows)];
  const needles = [...new Set([...probe.needles, probe.head])].filter((needle) => needle.length > SHORT_CHARS);
  if (needles.length > 0) return findEcho({ ...probe, needles }, old, now) !== undefined;
  // A word this short is met by chance: the row has to say it alone, behind a mark.
  return changedRows(old.lines, now.lines).after.some((row) => {
    const text = significant(now.lines[row] ?? "", probe.keepsFrames);
    return text.endsWith(probe.head) && !/[\p{L}\p{N}]/u.test(text.slice(0, -probe.head.length));
  });
}

/**
 * The row above the box in which the text goes on with something that is not of it: somebody typed into it. A text may
 * contain the words it ends with earlier, too.
 */
export function isContinued(
  probe: EchoProbe,
  { needle }: EchoPlace,
  [before, beforeRows]: readonly [Screen, number],
  [after, afterRows]: readonly [Screen, number],
): string | undefined {
  // A part of a text, or a word for it, says nothing of what follows.
  if (!probe.end.endsWith(needle)) return undefined;
  const row = changedRows(before.lines.slice(0, beforeRows), after.lines.slice(0, afterRows)).after.find((index) => {
    const text = significant(after.lines[index] ?? "", probe.keepsFrames);
    const at = text.lastIndexOf(needle);
    const from = text.indexOf(probe.head);
    const goes = at >= 0 && text.length > at + needle.length && /^[^\p{L}\p{N}]*$/u.test(text.slice(0, from));
    return goes && !(from >= 0 && probe.start.startsWith(text.slice(from)));
  });
  return row === undefined ? undefined : after.lines[row];
}

/** The same without what programs and terminals draw differently, to be compared as a whole. */
export const comparable = (text: string): string => significant(text).replaceAll(new RegExp(FRAGILE, "gu"), "");

/** What is compared with this text, and the text itself: one that has nothing else is compared by its emoji. */
export const comparedWith = (text: string): ((shown: string) => string) =>
  comparable(text) === "" ? (shown) => significant(shown, true) : comparable;

function findPlaceholder(probe: EchoProbe, before: Screen, after: Screen): EchoPlace | undefined {
  const known = placeholdersIn(probe, before.lines).map(({ word }) => word);
  for (const { word, row } of placeholdersIn(probe, after.lines).toReversed()) {
    const at = known.indexOf(word);
    if (at < 0) return place(probe, after, row, significant(word, probe.keepsFrames));
    known.splice(at, 1);
  }
  return undefined;
}

const placeholdersIn = ({ placeholders }: EchoProbe, lines: readonly string[]) =>
  lines.flatMap((line, row) =>
    placeholders.flatMap((pattern) => [...line.matchAll(pattern)].map(([word]) => ({ word, row }))),
  );

/**
 * Where it is shown anyhow: for a text that was on the screen before and has scrolled with it, once the output says that
 * it was drawn again.
 */
export function findShown(probe: EchoProbe, screen: Screen): EchoPlace | undefined {
  const [needle = ""] = probe.needles;
  return needle.length < SHORT_CHARS ? undefined : lowest(probe, screen, needle);
}

/** Where that which was found before is now. */
export const relocate = (probe: EchoProbe, { needle }: EchoPlace, screen: Screen): EchoPlace | undefined =>
  lowest(probe, screen, needle);

function lowest(probe: EchoProbe, screen: Screen, needle: string): EchoPlace | undefined {
  const texts = screen.lines.map((line) => significant(line, probe.keepsFrames));
  return texts.join("").includes(needle) ? place(probe, screen, rowOfLast(texts, needle), needle) : undefined;
}

/** The row still says the same, as far from the cursor as before, and the cursor has not moved along it. */
export function isStillAt(probe: EchoProbe, where: EchoPlace, screen: Screen): boolean {
  const row = screen.cursor.row - (where.cursor.row - where.row);
  return (
    screen.cursor.col === where.cursor.col && significant(screen.lines[row] ?? "", probe.keepsFrames) === where.text
  );
}

/** What was found is on this screen, wherever. */
export function isShown(probe: EchoProbe, where: EchoPlace, lines: readonly string[]): boolean {
  return lines
    .map((line) => significant(line, probe.keepsFrames))
    .join("")
    .includes(where.needle);
}

const place = (probe: EchoProbe, { lines, cursor }: Screen, row: number, needle: string): EchoPlace => ({
  row,
  text: significant(lines[row] ?? "", probe.keepsFrames),
  cursor,
  needle,
});

const rowsOf = (lines: readonly string[]): readonly number[] => lines.map((_line, row) => row);

function count(text: string, needle: string): number {
  let found = 0;
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) found += 1;
  return found;
}

/** Which of the texts holds the end of the last occurrence in all of them together. */
function rowOfLast(texts: readonly string[], needle: string): number {
  let left = texts.join("").lastIndexOf(needle) + needle.length;
  for (const [index, text] of texts.entries()) {
    if (left <= text.length) return index;
    left -= text.length;
  }
  return texts.length - 1;
}

/**
 * Rows that are not in the longest sequence of equal rows both screens have: what was drawn over, and what came. Rows that
 * went over the upper edge when the screen scrolled are neither.
 */
export function changedRows(
  before: readonly string[],
  after: readonly string[],
): { readonly before: readonly number[]; readonly after: readonly number[] } {
  // lengths[i][j]: how many rows before[i..] and after[j..] have in common.
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  for (let i = before.length - 1; i >= 0; i -= 1) {
    for (let j = after.length - 1; j >= 0; j -= 1) {
      const same = before[i] === after[j];
      lengths[i]![j] = same ? lengths[i + 1]![j + 1]! + 1 : Math.max(lengths[i + 1]![j]!, lengths[i]![j + 1]!);
    }
  }
  const changed = { before: [] as number[], after: [] as number[] };
  let [i, j] = [0, 0];
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) [i, j] = [i + 1, j + 1];
    else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) changed.before.push(i++);
    else changed.after.push(j++);
  }
  const hasScrolled = changed.after[0] !== 0 && changed.before[0] === 0;
  while (i < before.length) changed.before.push(i++);
  while (j < after.length) changed.after.push(j++);
  if (!hasScrolled) return changed;
  const kept = changed.before.findIndex((row, index) => row !== index);
  return { before: kept < 0 ? [] : changed.before.slice(kept), after: changed.after };
}

/** A frame is far smaller; what is older than this has been drawn over. */
const MAX_DRAWN_BYTES = 262_144;

/** Whether a text has been drawn since: for one that was on the screen already, where the screen alone cannot show it. */
export function drawnSince(source: OutputSource, from: number, { needles, keepsFrames }: EchoProbe): boolean {
  const start = Math.max(from, source.tailSeq, source.outputSeq - MAX_DRAWN_BYTES);
  const slice = source.read(start, MAX_DRAWN_BYTES);
  if (slice.kind !== "bytes") return false;
  const out = Buffer.allocUnsafe(stripRoom(slice.bytes.length));
  const length = new AnsiStripper().strip(slice.bytes, out, 0, 0, { mark: () => undefined });
  const [needle = ""] = needles;
  return needle !== "" && significant(out.toString("utf8", 0, length), keepsFrames).includes(needle);
}
