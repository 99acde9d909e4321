/**
 * What somebody has typed into the line of a shell or a REPL, as far as its screen tells. A row that ends in a prompt's sign
 * at the cursor is an empty line; any other may be one, too, because prompts look as people like: `killedByProbe` tells.
 */
import type { Capture } from "../tmux/io.ts";
import type { PromptSigns } from "../panes/vt/promptSigns.ts";
import { SHELL_PROFILE } from "../readiness/profiles.ts";
import { isEdited, isRightPrompt, type Row, rowOf, SEARCH, textBelow, textOf } from "./emptyLine.ts";
import { shellKind, type ShellKind, shellName } from "./shellLine.ts";

export interface TypedLine {
  readonly kind: ShellKind;
  /** Whether its prompt is known by the program's name alone. */
  readonly isRepl: boolean;
  /** Foreign text: the whole row where prompt and text cannot be told apart. Undefined: the screen does not tell. */
  readonly typed: string | undefined;
}

/** REPLs whose prompt is known, where the row begins with it. C-u empties their lines, and their terminal's. */
const REPLS: readonly (readonly [name: RegExp, prompt: RegExp])[] = [
  [/^i?python[\d.]*$/, /^(?:>>> |\.\.\. |\(Pdb\) |In \[\d+\]: | +\.\.\.: )/],
  [/^(?:node|nodejs)$/, /^(?:> |\.\.\. |\| )/],
  // From 3.42 on, a line that goes on begins with what it waits for.
  [/^sqlite3?$/, /^(?:sqlite> |(?: {3}|\((?:x\d|\.\.)|["'`\];] {2}|\/\* )\.\.\.> )/],
  [/^psql$/, /^[^\s>#]*[=*^!('"$-]{1,3}[>#] /],
  [/^(?:mysql|mariadb)$/, /^(?:mysql> |MariaDB \[[^\]]*\]> | +(?:-|["'`]|\/\*)> )/],
];

/** A sign of a prompt with something behind it: what looks like another prompt may be text (`$ cat >`). */
const TEXT_BEHIND_SIGN = /[$#%>❯➜»λ] +\S/;

/** @param command tmux's name for the foreground @returns undefined where no line is known to be read */
export function typedLine(command: string, capture: Capture, signs: PromptSigns): TypedLine | undefined {
  const row = rowOf(capture);
  if (capture.alternateScreen) return undefined;
  const kind = shellKind(command);
  if (row.before.trim() === "") return kind === undefined ? undefined : onBlankRow(kind, capture, signs);
  if (kind !== undefined) {
    return signs.isEditing === false ? undefined : { kind, isRepl: false, typed: onShellLine(kind, capture, signs) };
  }
  const name = shellName(command);
  const prompt = REPLS.find(([names]) => names.test(name))?.[1].exec(row.before)?.[0];
  // Node's own line editor takes no brackets: what does draws a box of its own.
  if (prompt === undefined || (name.startsWith("node") && signs.isEditing === true)) return undefined;
  return { kind: "plain", isRepl: true, typed: behind(row, row.before.slice(prompt.length), capture.cols) };
}

/** The last row of a line of several, or of a prompt. The probe tells in bash, whose C-u takes a whole line. */
function onBlankRow(kind: ShellKind, { lines, cursor }: Capture, signs: PromptSigns): TypedLine | undefined {
  if (kind === "ansi" && signs.isEditing === true) return { kind, isRepl: false, typed: undefined };
  // fish puts a line's other rows behind the prompt's width.
  const isBehind = isEdited(kind, signs) && (kind === "fish" ? cursor.col > 0 : signs.isFeedBehindPrompt);
  const typed = isBehind ? lines.slice(0, cursor.row).findLast((line) => line.trim() !== "") : undefined;
  return typed === undefined ? undefined : { kind, isRepl: false, typed: typed.trim() };
}

function onShellLine(kind: ShellKind, capture: Capture, signs: PromptSigns): string | undefined {
  const typed = onCursorRow(rowOf(capture), capture.cols, signs);
  return (typed ?? "") === "" ? textBelow(kind, capture, signs) || typed : typed;
}

function onCursorRow(row: Row, cols: number, signs: PromptSigns): string | undefined {
  const { before, after } = row;
  if (SEARCH.test(before)) return before + after;
  if (textOf(row) === signs.emptyRow) return "";
  const [prompt, right] = signs.ownEmptyRow?.split("\n") ?? [];
  if (prompt !== undefined && before.startsWith(prompt) && before.slice(prompt.length).trim() !== "") {
    return (before.slice(prompt.length) + (after.trim() === right?.trim() ? "" : after)).trim();
  }
  const isPrompt = SHELL_PROFILE.screen.cursor?.prompt.test(before) === true && !TEXT_BEHIND_SIGN.test(before);
  return behind(row, isPrompt ? "" : undefined, cols);
}

/** @param rest what is between the prompt and the cursor; undefined where that is not known */
function behind({ before, after }: Row, rest: string | undefined, cols: number): string | undefined {
  // A right prompt keeps its distance. Nothing is probed in front of text: some editors would delete that, too.
  const isText = /^ ?\S/.test(after) && !isRightPrompt({ before, after }, cols);
  if (isText) return ((rest ?? before) + after).trim();
  if (rest?.trim() === "") return "";
  return after === "" || isRightPrompt({ before, after }, cols) ? undefined : "";
}
