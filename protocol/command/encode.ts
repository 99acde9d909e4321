/**
 * The one encoder of tmux command lines. Every argument is ASCII in double quotes, with `\ooo` for each byte outside a
 * safe set: a raw newline would start a second command even inside quotes (docs/tmuxFacts.md 22), `$`, `~` and `#`
 * would expand. A line never holds a line end, is never empty and never begins a comment.
 */
import { AppError } from "../errors.ts";

const utf8 = new TextEncoder();

/** Bytes that stand for themselves inside double quotes. */
const SAFE = new Set(
  Array.from("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 %&()*+,-./:<=>?@[]^_{|}!", (char) =>
    char.charCodeAt(0),
  ),
);

/** Each byte as written inside the quotes: itself, or its octal escape. */
const ENCODED = Array.from({ length: 256 }, (_unused, byte) =>
  SAFE.has(byte) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`,
);

/** Whether tmux's parser can carry every byte: NUL is a parse error, 0xFF is lost (docs/tmuxFacts.md 22). */
export function isQuotable(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && !bytes.includes(0xff);
}

/**
 * One argument.
 * @throws AppError INVALID_ARGUMENT when tmux's parser cannot carry it.
 */
export function quote(argument: string | Uint8Array): string {
  const bytes = typeof argument === "string" ? utf8.encode(argument) : argument;
  if (!isQuotable(bytes)) {
    throw new AppError("INVALID_ARGUMENT", "a tmux argument cannot hold a NUL or 0xFF byte; send it as keys");
  }
  let out = '"';
  for (const byte of bytes) out += ENCODED[byte]!;
  return `${out}"`;
}

/**
 * Text that tmux expands as a format, made literal (docs/tmuxFacts.md 23), then quoted: each `#` doubled, except a run
 * of them before `[`, which tmux keeps unchanged (format.c `format_expand1`).
 */
export function quoteLiteralFormat(text: string): string {
  return quote(text.replaceAll(/#+(?!#|\[)/g, "$&$&"));
}

/** What a new pane runs. */
export interface NewPaneProgram {
  /** Default: the user's shell. */
  readonly command?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Variables of the program, besides the server's; of a session's first one, also of the session. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/**
 * The end of a command that makes a pane. tmux passes a single word to a shell as a script; a program without arguments
 * must run literally.
 */
export function program({ command = [], cwd, environment = {} }: NewPaneProgram): string {
  const words = command.length === 1 ? ["sh", "-c", 'exec "$0"', ...command] : command;
  return [
    ...Object.entries(environment).map(([name, value]) => ` -e ${quote(`${name}=${value}`)}`),
    ...(cwd === undefined ? [] : [` -c ${quoteLiteralFormat(cwd)}`]),
    ...(words.length === 0 ? [] : [" --", ...words.map((word) => ` ${quote(word)}`)]),
  ].join("");
}
