/**
 * The only encoder of tmux command lines. Every argument is ASCII in double quotes, with `\ooo` for each byte outside a safe
 * set: a raw newline would start a second command even inside quotes (docs/tmuxFacts.md 22), and `$`, `~` and `#` would
 * expand. A line never contains a newline, is never empty and never begins a comment.
 */
import { invalidArgument } from "../errors.ts";

const utf8 = new TextEncoder();

/** Bytes that are literal inside double quotes. */
const SAFE = new Uint8Array(256);
for (const byte of utf8.encode(
  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 %&()*+,-./:<=>?@[]^_{|}!",
))
  SAFE[byte] = 1;

const ascii = new TextDecoder();
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const ZERO = 0x30;

/** Whether tmux's parser can represent every byte: NUL is a parse error, 0xFF is lost (docs/tmuxFacts.md 22). */
export function isQuotable(bytes: Uint8Array): boolean {
  return !bytes.includes(0) && !bytes.includes(0xff);
}

/**
 * Encodes one argument.
 * @throws AppError INVALID_ARGUMENT if tmux's parser cannot represent it.
 */
export function quote(argument: string | Uint8Array): string {
  const bytes = typeof argument === "string" ? utf8.encode(argument) : argument;
  if (!isQuotable(bytes)) {
    throw invalidArgument("a tmux argument cannot contain a NUL or 0xFF byte; send it as keys");
  }
  // Written into bytes first, because appending to a string costs 32 bytes per character.
  const out = new Uint8Array(bytes.length * 4 + 2);
  let at = 0;
  out[at++] = QUOTE;
  // By index: an iterator takes ten times as long.
  for (let from = 0; from < bytes.length; from += 1) {
    const byte = bytes[from]!;
    if (SAFE[byte] === 1) {
      out[at++] = byte;
      continue;
    }
    out[at++] = BACKSLASH;
    out[at++] = ZERO + (byte >> 6);
    out[at++] = ZERO + ((byte >> 3) & 7);
    out[at++] = ZERO + (byte & 7);
  }
  out[at++] = QUOTE;
  return ascii.decode(out.subarray(0, at));
}

/** What `quote` makes of bytes takes so many, without its quotes. */
export function quotedBytes(bytes: Uint8Array): number {
  let size = 0;
  // A megabyte is measured in one turn.
  for (let at = 0; at < bytes.length; at += 1) size += SAFE[bytes[at]!] === 1 ? 1 : 4;
  return size;
}

/**
 * Escapes text that tmux expands as a format (docs/tmuxFacts.md 23), then quotes it: each `#` is doubled, except a run of
 * them before `[`, which tmux keeps unchanged (format.c `format_expand1`).
 */
export function quoteLiteralFormat(text: string): string {
  return quote(text.replaceAll(/#+(?!#|\[)/g, "$&$&"));
}

/** The program of a new pane. */
export interface NewPaneProgram {
  /** argv; default: the user's shell. */
  readonly command?: readonly string[] | undefined;
  /** Absolute; taken literally. */
  readonly cwd?: string | undefined;
  /** Variables in addition to the server's; for a session's first program, they also become the session's. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** A size in cells, or as a percentage of the split space such as `30%`. */
export type PaneSize = number | `${number}%`;

/** Where a new or moved pane goes. */
export interface PanePlace {
  /** `vertical` (tmux's default) puts it below, `horizontal` beside. */
  readonly direction?: "vertical" | "horizontal" | undefined;
  readonly size?: PaneSize | undefined;
  /** Put it above, or to the left. */
  readonly before?: boolean | undefined;
  /** Use the whole width or height of the window. */
  readonly full?: boolean | undefined;
  /** Keep the active pane or window active. */
  readonly detached?: boolean | undefined;
}

/**
 * The end of a command that creates a pane. tmux passes a single word to a shell as a script, so a program without arguments
 * needs special care to run literally.
 */
export function program({ command = [], cwd, environment = {} }: NewPaneProgram): string {
  const words = command.length === 1 ? ["sh", "-c", 'exec "$0"', ...command] : command;
  return [
    ...Object.entries(environment).map(([name, value]) => ` -e ${quote(`${name}=${value}`)}`),
    ...(cwd === undefined ? [] : [` -c ${quoteLiteralFormat(cwd)}`]),
    ...(words.length === 0 ? [] : [" --", ...words.map((word) => ` ${quote(word)}`)]),
  ].join("");
}
