/** Guard lines, `%begin|%end|%error TIME NUMBER FLAGS`: what tmux prints around each reply (control.c, cmd-queue.c). */
import { ascii, decimal, startsWith } from "./bytes.ts";

const SPACE = 32;
const ZERO = 48;
const PERCENT = 37;
/** A guard line is three numbers of at most ten digits; anything longer is not one. */
const MAX_GUARD_BYTES = 48;
const MIN_GUARD_BYTES = "%end 0 0 0".length;
const KEYWORDS = [
  { keyword: "begin", text: ascii("%begin ") },
  { keyword: "end", text: ascii("%end ") },
  { keyword: "error", text: ascii("%error ") },
] as const;

export interface Guard {
  readonly keyword: "begin" | "end" | "error";
  readonly timeSec: number;
  readonly number: number;
  readonly flags: number;
}

/** Whether two guard lines belong to one block: tmux repeats all three numbers. */
export const isSameBlock = (one: Guard, other: Guard): boolean =>
  one.number === other.number && one.timeSec === other.timeSec && one.flags === other.flags;

/** The guard line in `buffer[from, to)`, or undefined when it is any other line. Four per command: no string is made. */
export function readGuard(buffer: Uint8Array, from: number, to: number): Guard | undefined {
  if (buffer[from] !== PERCENT || to - from < MIN_GUARD_BYTES || to - from > MAX_GUARD_BYTES) return undefined;
  for (const { keyword, text } of KEYWORDS) {
    if (!startsWith(buffer, from, to, text)) continue;
    const time = canonical(buffer, from + text.length, to);
    if (time.end === -1 || buffer[time.end] !== SPACE) return undefined;
    const number = canonical(buffer, time.end + 1, to);
    if (number.end === -1 || buffer[number.end] !== SPACE) return undefined;
    const flags = canonical(buffer, number.end + 1, to);
    if (flags.end !== to) return undefined;
    return { keyword, timeSec: time.value, number: number.value, flags: flags.value };
  }
  return undefined;
}

const NO_NUMBER = { value: 0, end: -1 };

/** A number as tmux prints it: `01` is not one, so equal numbers mean equal text. */
const canonical = (buffer: Uint8Array, from: number, to: number): { readonly value: number; readonly end: number } =>
  buffer[from] === ZERO && from + 1 < to && buffer[from + 1] !== SPACE ? NO_NUMBER : decimal(buffer, from, to);
