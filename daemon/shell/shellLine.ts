/**
 * The line typed into a shell so that a command's output and status can be told from everything else. It prints a start mark,
 * evaluates the command as one quoted word, and prints an end mark with the status. The marks are OSC sequences with a nonce:
 * a terminal does not show them, and their typed form (`\033]…`) differs from their bytes, so no echo can be mistaken for
 * one. Quoting the command keeps a syntax error, a comment or a trailing `&` from swallowing the end mark.
 *
 * Before the command's first byte the line removes itself from the screen: it moves up by as many rows as it takes, erases
 * from the end of the prompt and prints the command, as if a person had typed that. In bash and zsh the command is in the
 * history then, in bash in the line's place.
 *
 * The nonce is on the screen, where the command itself can read it. So the shell generates a secret, which it keeps in a
 * variable that is not exported, and prints in the start mark, which only the stream contains; an end mark without the secret
 * does not count.
 */
import { invalidArgument } from "../../protocol/errors.ts";
import { columnsOf } from "../panes/columns.ts";

/** How a shell quotes: `ansi` and `zsh` know `$'…'`, `plain` only `'…'`, `fish` has its own escapes inside `'…'`. */
export type ShellKind = "ansi" | "zsh" | "plain" | "fish";

const SHELLS: ReadonlyMap<string, ShellKind> = new Map([
  ["bash", "ansi"],
  ["zsh", "zsh"],
  ["ksh", "ansi"],
  ["ksh93", "ansi"],
  ["mksh", "ansi"],
  ["sh", "plain"],
  ["dash", "plain"],
  ["ash", "plain"],
  ["busybox", "plain"],
  ["fish", "fish"],
]);

/** A line in the terminal's cooked mode holds 4,095 bytes (docs/tmuxFacts.md 27); shells without an editor read such lines. */
const MAX_COOKED_LINE_BYTES = 4_000;

/** The private OSC number of the marks; terminals ignore it. */
const OSC = 5_151;

/** `#{pane_current_command}` without its path and a login shell's dash. */
export const shellName = (command: string): string => command.slice(command.lastIndexOf("/") + 1).replace(/^-/, "");

/** The kind of the shell in `#{pane_current_command}`; undefined if it is not a known shell. */
export const shellKind = (command: string): ShellKind | undefined => SHELLS.get(shellName(command));

/** zsh's `%_` in its PS2: the construct that the parser is in. */
const ZSH_PARSER =
  /^(?:(?:quote|dquote|bquote|math|mathsubst|braceparam|cmdsubst|cmdor|cmdand|pipe|errpipe|foreach|for|while|repeat|select|until|if|then|else|elif|elif-then|cond|case|function|subsh|cursh|array|heredoc|heredocd|always) ?)+> $/;

/** Whether a row is a shell's default prompt for the rest of a command (PS2); a custom one looks like any prompt. */
export const isContinuation = (shell: string, beforeCursor: string): boolean =>
  shell === "zsh" ? ZSH_PARSER.test(beforeCursor) : shell !== "fish" && /^> ?$/.test(beforeCursor);

export interface ShellMarks {
  /** Its first group is the secret of the end mark, if there is one. */
  readonly start: RegExp;
  /** Its first group is the status. */
  readonly end: (secret: string | undefined) => RegExp;
  /** Whether an end mark without a start mark counts. */
  readonly isStartOptional: boolean;
}

const SECRET = "[0-9a-f-]{0,40}";

/** The marks' bytes, as latin1 text. */
export const marksOf = (nonce: string): ShellMarks => ({
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  start: new RegExp(`\u001b\\]${OSC};${nonce};C;(${SECRET})\u0007`),
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  end: (secret = SECRET) => new RegExp(`\u001b\\]${OSC};${nonce};D;(\\d{1,5});${secret}\u0007`),
  isStartOptional: false,
});

/**
 * OSC 133 as shells with integration send it: C before a command's output, D with its status after. In C our own scripts
 * (`tmuxwire-marks`) give the secret of D.
 */
export const SHELL_INTEGRATION_MARKS: ShellMarks = {
  // oxlint-disable-next-line no-control-regex -- an escape sequence
  start: new RegExp(`\u001b\\]133;C(?:;tmuxwire=(${SECRET}))?[^\u0007\u001b]*(?:\u0007|\u001b\\\\)`),
  end: (secret) =>
    secret === undefined
      ? // oxlint-disable-next-line no-control-regex -- an escape sequence
        /\u001b\]133;D(?:;(\d{1,5}))?[^\u0007\u001b]*(?:\u0007|\u001b\\)/
      : new RegExp(`\u001b\\]133;D;(\\d{1,5});tmuxwire=${secret}\u0007`),
  isStartOptional: true,
};

/** How a shell gets a secret without starting a program: 30 bits of its own, or the kernel's. */
const SECRETS: Readonly<Record<ShellKind, string>> = {
  ansi: "_tw=$RANDOM$RANDOM",
  zsh: "_tw=$RANDOM$RANDOM",
  // dash has no $RANDOM; without /proc, $RANDOM is the fallback.
  plain: "{ read -r _tw </proc/sys/kernel/random/uuid; } 2>/dev/null || _tw=$RANDOM$RANDOM",
  fish: "set -g _tw (random)(random)",
};

/**
 * Refuses text that no shell's line can contain: NUL would end it, and a lone surrogate is not a character.
 * @throws AppError INVALID_ARGUMENT
 */
export function requireTypable(command: string): void {
  if (command.includes("\0")) {
    throw invalidArgument("a command cannot contain NUL, because a shell would run only the part before it");
  }
  if (/\p{Cs}/u.test(command)) {
    throw invalidArgument("the command contains a lone surrogate; send whole characters");
  }
}

/**
 * A command that does nothing. In vi's command mode, which cannot be detected, `i` starts to insert and the line becomes a
 * comment, and zsh's `:` swallows it. To zsh `i#` may be a pattern that matches no file (EXTENDED_GLOB).
 */
const COMMENT_IN_COMMAND_MODE: Readonly<Record<ShellKind, string>> = {
  ansi: " : i#;",
  zsh: " :;",
  plain: " : i#;",
  fish: " : i#;",
};

/** Where a line is typed: its first column, from 0, and the size of the screen. */
export interface LinePlace {
  readonly col: number;
  readonly cols: number;
  readonly rows: number;
}

interface EditedPlace {
  readonly rowsBelow: number;
  readonly col: number;
}

/** A line, and where an editor has the cursor behind it, as long as the terminal need not scroll: rows below its first one. */
export interface PlacedLine {
  readonly line: string;
  /** More than one at the edge, where terminals and editors differ. */
  readonly places: readonly [EditedPlace, ...EditedPlace[]];
}

export function placedLine(line: string, { col, cols }: LinePlace): PlacedLine {
  const end = col + columnsOf(line);
  const rowsBelow = Math.floor(end / cols);
  const place = { rowsBelow, col: end % cols };
  const above = rowsBelow - 1;
  const places: PlacedLine["places"] =
    place.col > 0 ? [place] : [place, { rowsBelow: above, col: cols }, { rowsBelow: above, col: cols - 1 }];
  return { line, places };
}

/**
 * The line that removes itself. Undefined where it cannot: it would scroll its own first row off the screen, or the command
 * has control characters, which a shell shows in its own way.
 * @param shell its name @throws AppError INVALID_ARGUMENT
 */
export function erasingLine(shell: string, command: string, nonce: string, place: LinePlace): PlacedLine | undefined {
  const kind = shellKind(shell);
  if (kind === undefined || !(kind === "plain" ? isPlainText(command) : isPlainText(command.replaceAll("\n", ""))))
    return undefined;
  const { col, rows } = place;
  // How far up is part of the text, whose length decides it.
  for (let up = 1; up < rows; up += 1) {
    for (const padding of ["", " "]) {
      const placed = placedLine(padding + shellLine(kind, command, nonce, { shell, up, col }), place);
      const [{ rowsBelow }, ...others] = placed.places;
      if (others.length > 0) continue;
      if (rowsBelow + 1 < up) return undefined;
      if (rowsBelow + 1 === up) return placed;
      break;
    }
  }
  return undefined;
}

interface Erasure {
  /** The shell's name. */
  readonly shell: string;
  /** Rows up from where the cursor is behind the line's Enter, and the column of the line's first character, from 0. */
  readonly up: number;
  readonly col: number;
}

/**
 * Leaves the command's status, for the next prompt, and nothing else. A subshell would be in the foreground for a moment. zsh
 * asks about a name that it does not know yet (CORRECT), and about a word that is almost that of a file (CORRECT_ALL).
 */
const RESTORED: Readonly<Record<Exclude<ShellKind, "fish">, string>> = {
  ansi: "_twr() { unset -f _twr; unset _tw _twc _tws; return $1; }; _twr $_tws",
  zsh: '() { unset "_tw" "_twc" "_tws"; return $1; } $_tws',
  plain: "_twr() { unset -f _twr; unset _tw _twc _tws; return $1; }; _twr $_tws",
};

/** What puts the command into the history. bash removes the line that does it, if that is there. */
const HISTORY: Readonly<Record<string, string>> = {
  bash: '[[ -o history ]] && history -s -- "$_twc"; ',
  zsh: 'print -rs -- "$_twc"; ',
};

/**
 * The line, without its Enter; a leading space keeps it out of the history of shells that are configured so.
 * @param erasure absent: the line stays on the screen
 * @throws AppError INVALID_ARGUMENT
 */
export function shellLine(kind: ShellKind, command: string, nonce: string, erasure?: Erasure): string {
  requireTypable(command);
  const status = kind === "fish" ? "$status" : "$?";
  const osc = (rest: string): string => `\\033]${OSC};${nonce};${rest};%s\\a`;
  const end = (of: string): string => `printf '${osc("D;%s")}' ${of} $_tw`;
  const quoted = quoteFor(kind, command);
  const parts =
    erasure === undefined
      ? [SECRETS[kind], `printf '${osc("C")}' $_tw`, `eval ${quoted}`, end(status)]
      : [
          SECRETS[kind],
          kind === "fish" ? `set -g _twc ${quoted}` : `_twc=${quoted}`,
          `${HISTORY[erasure.shell] ?? ""}printf '\\033[${erasure.up}A\\033[${erasure.col + 1}G\\033[J%s\\r\\n${osc("C")}' "$_twc" $_tw`,
          'eval "$_twc"',
          ...(kind === "fish"
            ? [`set -g _tws ${status}`, end("$_tws"), "set -e _tw _twc", "test $_tws = 0"]
            : ["_tws=$?", end("$_tws"), RESTORED[kind]]),
        ];
  const line = `${COMMENT_IN_COMMAND_MODE[kind]} ${parts.join("; ")}`;
  if (kind === "plain" && line.split("\n").some((part) => Buffer.byteLength(part) > MAX_COOKED_LINE_BYTES)) {
    throw invalidArgument(
      "the command is too long: this shell reads lines of about 4,000 bytes; put it into a script file",
    );
  }
  return line;
}

/** Whether a shell's editor takes every character of the command as text, not as a key. */
const isPlainText = (command: string): boolean => !/\p{Cc}/u.test(command);

/** The time that the patterns take grows with the square of a command's length: at this one to about 1 ms. */
const MAX_SIMPLE_CHARS = 1_000;

/** Words, redirections and what joins commands, in any shell; `more` is for words. */
function simpleCommands(more: string, variable: string, grouped: boolean): RegExp {
  const word = `(?:[\\p{L}\\p{M}\\p{N}_./:=,@%+~*${more}-]|\\$${variable}|'(?:[^'\\\\]|\\\\[^'])*'|"(?:[^"\\\\$\`!]|\\\\[\\\\$"]|\\$${variable})*")+`;
  const one = `${word}(?: +(?:${word}|\\d?(?:>>?|<) *(?:&\\d|${word})))*`;
  const list = (unit: string): string => `${unit}(?: *(?:;|\\|\\|?|&&) *${unit})*`;
  return new RegExp(`^ *${list(grouped ? `(?:${one}|\\( *${list(one)} *\\))` : one)} *;? *$`, "u");
}

const SIMPLE = {
  fish: simpleCommands("", "[A-Za-z_][A-Za-z0-9_]*", false),
  others: simpleCommands("?[\\]", "(?:[A-Za-z_][A-Za-z0-9_]*|\\?)", true),
};
/** Words that begin, end or are only part of a construct. */
const CONSTRUCT =
  /(?:^|[ ;|&(])(?:if|then|el(?:if|se)|fi|for(?:each)?|while|until|do|done|case|esac|switch|select|function|begin|end|repeat|coproc|and|or|not|time|nocorrect|break|continue|return|\[\[)(?=$|[ ;|&)])/;
const QUOTED = /'(?:[^'\\]|\\[^'])*'|"(?:[^"\\]|\\.)*"/g;
/** An assignment is an error in fish, which leaves the line as it is. */
const ASSIGNMENT = /(?:^|[;|&]) *\w+=/;

/**
 * Whether a shell reads the command, typed as it is, as one whole command: it waits for no rest of it, has no error that keeps
 * it from running and expands nothing in it on the way (`!`). False for some that would do, too.
 */
export function isReadWhole(kind: ShellKind, command: string): boolean {
  if (command.length > MAX_SIMPLE_CHARS || !isPlainText(command)) return false;
  const bare = command.replaceAll(QUOTED, "''");
  if (CONSTRUCT.test(bare)) return false;
  return kind === "fish" ? SIMPLE.fish.test(command) && !ASSIGNMENT.test(bare) : SIMPLE.others.test(command);
}

/** Of ASCII alone in zsh: its editor puts `?`, which is a pattern, for other letters in a locale without UTF-8. */
function quoteFor(kind: ShellKind, command: string): string {
  const isPlain = kind === "zsh" ? /^[ -~]*$/.test(command) : isPlainText(command);
  if ((kind === "ansi" || kind === "zsh") && !isPlain) {
    const escaped = kind === "zsh" ? /['\\!]|[^ -~]/gu : /['\\!\p{Cc}]/gu;
    return `$'${command.replaceAll(escaped, (character) => (character === "'" ? "\\'" : octal(character)))}'`;
  }
  if (kind === "fish") {
    const quoted = command.replaceAll(/['\\]/g, (character) => `\\${character}`);
    return `'${quoted.replaceAll(/\p{Cc}/gu, (character) => `'${bytesOf(character, "\\x", 16)}'`)}'`;
  }
  // Newlines are typed unchanged, because inside quotes the shell reads on.
  if (/[^\P{Cc}\n]/u.test(command)) {
    throw invalidArgument(
      "in this shell a command cannot contain control characters except newlines; put it into a script file",
    );
  }
  return `'${command.replaceAll("'", "'\\''")}'`;
}

/** Control characters, `!` and `\`. */
const octal = (character: string): string => (character === "\\" ? "\\\\" : bytesOf(character, "\\", 8));

/** Each byte as an escape; C1 controls have two. */
const bytesOf = (character: string, escape: string, radix: 8 | 16): string =>
  [...Buffer.from(character)].map((byte) => escape + byte.toString(radix).padStart(radix === 8 ? 3 : 2, "0")).join("");
