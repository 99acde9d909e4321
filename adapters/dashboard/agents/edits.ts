/**
 * What a tool would change in files, from its own input, as the lines of a unified diff. Agents name the same things
 * differently, so it goes by what is given, not by who asks. Everything in it is foreign text; it is bounded in files, lines
 * and characters, and says how much was left out.
 */
import { clip } from "../../../protocol/text/clip.ts";
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";
import { MAX_DIFF_CHARS, MAX_DIFF_FILES, MAX_DIFF_LINE_CHARS, MAX_DIFF_LINES } from "../dashboardLimits.ts";

export interface FileEdit<Line = string> {
  /** Empty: not named. */
  readonly path: string;
  /** The lines are the file's whole new content; what it has now is not known. */
  readonly whole: boolean;
  /** Each begins with its sign: `-` removed, `+` added, a blank for one that stays. */
  readonly lines: readonly Line[];
  /** Lines that were left out at the end. */
  readonly more: number;
}

export interface Edits<Line = string> {
  readonly files: readonly FileEdit<Line>[];
  /** Files that were left out. */
  readonly more: number;
}

type WholeEdit = Omit<FileEdit, "more">;

/** Undefined: it changes no file, or says nothing about how. */
export function editsOf(input: unknown): Edits | undefined {
  const files = wholeEdits(fieldsOf(input) ?? {});
  return files.length === 0 ? undefined : bounded(files);
}

function wholeEdits(fields: Readonly<Record<string, unknown>>): readonly WholeEdit[] {
  const first = (...names: readonly string[]): string | undefined =>
    names.map((name) => textOf(fields[name])).find((text) => text !== undefined);
  const patch = [first("patch", "input"), commandText(fields["command"])].find(holdsPatch);
  if (patch !== undefined) return editsOfPatch(patch);
  const path = first("file_path", "notebook_path", "filepath", "path", "filename") ?? "";
  const diff = first("diff", "patch");
  if (diff !== undefined && /^@@ -/m.test(diff)) return [{ path, whole: false, lines: linesOfDiff(diff) }];
  const lines: string[] = [];
  for (const edit of Array.isArray(fields["edits"]) ? (fields["edits"] as readonly unknown[]) : [fields]) {
    // Past what is shown they are counted only.
    const changed = replacedLines(edit, lines.length <= MAX_DIFF_LINES ? MAX_COMPARISONS : 0);
    if (changed.length > 0 && lines.length > 0) lines.push(BREAK);
    for (const line of changed) lines.push(line);
  }
  if (lines.length > 0) return [{ path, whole: false, lines }];
  const content = path === "" ? undefined : first("content", "file_text", "new_source");
  return content === undefined ? [] : [{ path, whole: true, lines: linesOf(content).map((line) => `+${line}`) }];
}

/** Between two places of one file. */
const BREAK = " …";
const PATCH_BEGINS = "*** Begin Patch";

/** Its command is the text of a patch. */
export const isPatch = (input: unknown): boolean => holdsPatch(commandText(fieldsOf(input)?.["command"]));

const holdsPatch = (text: string | undefined): boolean => text?.includes(PATCH_BEGINS) === true;

const commandText = (command: unknown): string | undefined =>
  Array.isArray(command) ? command.map(textOf).findLast(holdsPatch) : textOf(command);

/** The form of `apply_patch`: files, each with its lines and their signs. */
function editsOfPatch(patch: string): readonly WholeEdit[] {
  const files: { path: string; whole: boolean; lines: string[] }[] = [];
  for (const line of linesOf(patch.slice(patch.indexOf(PATCH_BEGINS)))) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line);
    if (head !== null) files.push({ path: head[2]!, whole: head[1] === "Add", lines: [] });
    if (head?.[1] === "Delete") files.at(-1)?.lines.push(" (the file is deleted)");
    if (line.startsWith("*** Move to: ")) files.at(-1)?.lines.push(` (moved to ${line.slice(13)})`);
    if (line.startsWith("*** End Patch")) break;
    const file = files.at(-1);
    if (line.startsWith("@@") && file !== undefined && file.lines.length > 0) file.lines.push(BREAK);
    if (/^[-+ ]/.test(line)) file?.lines.push(line);
  }
  return files;
}

const HUNK = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/** Of a unified diff, without its heads: a hunk has as many lines of either side as it says. */
function linesOfDiff(diff: string): readonly string[] {
  const lines: string[] = [];
  let [old, now] = [0, 0];
  for (const line of linesOf(diff)) {
    if (old > 0 || now > 0) {
      if (!/^[-+ ]/.test(line)) continue;
      if (!line.startsWith("+")) old -= 1;
      if (!line.startsWith("-")) now -= 1;
      lines.push(line);
      continue;
    }
    const hunk = HUNK.exec(line);
    if (hunk === null) continue;
    [old, now] = [Number(hunk[1] ?? 1), Number(hunk[2] ?? 1)];
    if (lines.length > 0) lines.push(BREAK);
  }
  return lines;
}

function replacedLines(edit: unknown, maxComparisons: number): readonly string[] {
  const fields = fieldsOf(edit) ?? {};
  const [before, after] = [
    ["old_string", "old_str", "oldText", "oldString"],
    ["new_string", "new_str", "newText", "newString"],
  ].map((names) => names.map((name) => textOf(fields[name])).find((text) => text !== undefined));
  if (before === undefined && after === undefined) return [];
  return changedLines(linesOf(before ?? ""), linesOf(after ?? ""), maxComparisons);
}

/** As many lines of either side as are shown; past it they are not matched: all of one side, then all of the other. */
const MAX_COMPARISONS = MAX_DIFF_LINES ** 2;

/** The longest common subsequence stays. */
function changedLines(before: readonly string[], after: readonly string[], maxComparisons: number): readonly string[] {
  let [start, end] = [0, 0];
  const shorter = Math.min(before.length, after.length);
  while (start < shorter && before[start] === after[start]) start += 1;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  const kept = (lines: readonly string[]): readonly string[] => lines.map((line) => ` ${line}`);
  return [
    ...kept(before.slice(0, start)),
    ...matched(removed, added, maxComparisons),
    ...kept(end === 0 ? [] : before.slice(-end)),
  ];
}

function matched(removed: readonly string[], added: readonly string[], maxComparisons: number): readonly string[] {
  if (removed.length * added.length > maxComparisons)
    return [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)];
  // How many lines are common from these two on.
  const width = added.length + 1;
  const common = new Uint32Array((removed.length + 1) * width);
  for (let a = removed.length - 1; a >= 0; a -= 1)
    for (let b = added.length - 1; b >= 0; b -= 1)
      common[a * width + b] =
        removed[a] === added[b]
          ? common[(a + 1) * width + b + 1]! + 1
          : Math.max(common[(a + 1) * width + b]!, common[a * width + b + 1]!);
  const lines: string[] = [];
  let [a, b] = [0, 0];
  while (a < removed.length || b < added.length) {
    const stays = a < removed.length && b < added.length && removed[a] === added[b];
    const isRemoved =
      b === added.length || (a < removed.length && common[(a + 1) * width + b]! >= common[a * width + b + 1]!);
    lines.push(stays ? ` ${removed[a]}` : isRemoved ? `-${removed[a]}` : `+${added[b]}`);
    if (stays || isRemoved) a += 1;
    if (stays || !isRemoved) b += 1;
  }
  return lines;
}

/** The end of the last line begins no other. */
const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/));

function bounded(files: readonly WholeEdit[]): Edits {
  let [lines, chars] = [MAX_DIFF_LINES, MAX_DIFF_CHARS];
  const kept = files.slice(0, MAX_DIFF_FILES).map(({ path, whole, lines: all }): FileEdit => {
    const shown: string[] = [];
    for (const line of all) {
      const short = clip(line, MAX_DIFF_LINE_CHARS);
      if (lines === 0 || chars < short.length) break;
      shown.push(short);
      lines -= 1;
      chars -= short.length;
    }
    return { path: clip(path, MAX_DIFF_LINE_CHARS), whole, lines: shown, more: all.length - shown.length };
  });
  return { files: kept, more: files.length - kept.length };
}
