/**
 * What is typed into a shell so that a command's output and status can be told from everything else: one line that prints
 * a start mark, evaluates the command as one quoted word, and prints an end mark with the status. The marks are OSC
 * sequences with a nonce: a terminal shows nothing of them, and their typed form (`\033]…`) is not their bytes, so no echo
 * can be taken for one. Quoting the command keeps a syntax error, a comment or a trailing `&` from eating the end mark.
 */
import { AppError } from "../../protocol/errors.ts";

/** How a shell quotes: `ansi` knows `$'…'`, `plain` only `'…'`, `fish` has escapes of its own inside `'…'`. */
export type ShellKind = "ansi" | "plain" | "fish";

const SHELLS: ReadonlyMap<string, ShellKind> = new Map([
  ["bash", "ansi"],
  ["zsh", "ansi"],
  ["ksh", "ansi"],
  ["ksh93", "ansi"],
  ["mksh", "ansi"],
  ["sh", "plain"],
  ["dash", "plain"],
  ["ash", "plain"],
  ["busybox", "plain"],
  ["fish", "fish"],
]);

/** A terminal line in cooked mode holds 4,095 bytes (docs/tmuxFacts.md 27); shells without an editor read such lines. */
const MAX_COOKED_LINE_BYTES = 4_000;

/** The private OSC number of the marks; terminals ignore it. */
const OSC = 5_151;

/** The kind of the shell behind `#{pane_current_command}`; undefined when it is no shell we know. */
export const shellKind = (command: string): ShellKind | undefined =>
  SHELLS.get(command.slice(command.lastIndexOf("/") + 1).replace(/^-/, ""));

export interface ShellMarks {
  readonly start: RegExp;
  /** Its first group is the status. */
  readonly end: RegExp;
}

/** The marks' bytes, as latin1 text. */
export const marksOf = (nonce: string): ShellMarks => ({
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  start: new RegExp(`\u001b\\]${OSC};${nonce};C\u0007`),
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  end: new RegExp(`\u001b\\]${OSC};${nonce};D;(\\d{1,5})\u0007`),
});

/** OSC 133 as shells with integration send it: C before a command's output, D with its status after. */
export const SHELL_INTEGRATION_MARKS: ShellMarks = {
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  start: /\u001b\]133;C[^\u0007\u001b]*(?:\u0007|\u001b\\)/,
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  end: /\u001b\]133;D(?:;(\d{1,5}))?[^\u0007\u001b]*(?:\u0007|\u001b\\)/,
};

/** The line, without its Enter; a blank in front keeps it out of the history of shells that are set so. @throws AppError */
export function shellLine(kind: ShellKind, command: string, nonce: string): string {
  const status = kind === "fish" ? "$status" : "$?";
  const mark = (rest: string): string => `printf '\\033]${OSC};${nonce};${rest}\\007'`;
  const line = ` ${mark("C")}; eval ${quoteFor(kind, command)}; ${mark("D;%s")} ${status}`;
  if (kind === "plain" && line.split("\n").some((part) => Buffer.byteLength(part) > MAX_COOKED_LINE_BYTES)) {
    throw new AppError("INVALID_ARGUMENT", "this shell reads lines of about 4,000 bytes; put the command into a file");
  }
  return line;
}

function quoteFor(kind: ShellKind, command: string): string {
  const hasControls = /\p{Cc}/u.test(command);
  if (kind === "ansi" && hasControls) {
    return `$'${command.replaceAll(/['\\!\p{Cc}]/gu, (character) => (character === "'" ? "\\'" : octal(character)))}'`;
  }
  // Line ends are typed as they are: inside quotes the shell reads on.
  if (/[^\P{Cc}\n]/u.test(command)) {
    throw new AppError("INVALID_ARGUMENT", "for this shell a command cannot hold control characters but line ends");
  }
  if (kind === "fish") return `'${command.replaceAll(/['\\]/g, (character) => `\\${character}`)}'`;
  return `'${command.replaceAll("'", "'\\''")}'`;
}

/** Control characters of one byte, `!` and `\`. */
const octal = (character: string): string =>
  character === "\\" ? "\\\\" : `\\${character.codePointAt(0)!.toString(8).padStart(3, "0")}`;
