/** Guard lines, `%begin|%end|%error TIME NUMBER FLAGS`: what tmux prints around each reply (control.c, cmd-queue.c). */
const PERCENT = 37;
const LETTER_B = 98;
const LETTER_E = 101;
/** A guard line is three numbers; anything longer is not one. */
const MAX_GUARD_BYTES = 64;
const MIN_GUARD_BYTES = "%end 0 0 0".length;
const GUARD = /^%(begin|end|error) (\d{1,20}) (\d{1,10}) (\d{1,10})$/;

export interface Guard {
  readonly keyword: string;
  /** Time, number and flags as tmux wrote them. */
  readonly stamp: string;
  readonly number: number;
  readonly flags: number;
}

/** The guard line in `buffer[from, to)`, or undefined when it is any other line. */
export function readGuard(buffer: Uint8Array, from: number, to: number): Guard | undefined {
  if (to - from > MAX_GUARD_BYTES || to - from < MIN_GUARD_BYTES || buffer[from] !== PERCENT) return undefined;
  const second = buffer[from + 1];
  if (second !== LETTER_B && second !== LETTER_E) return undefined;
  const match = GUARD.exec(String.fromCharCode(...buffer.subarray(from, to)));
  if (match === null) return undefined;
  const [line, keyword, , number, flags] = match;
  return {
    keyword: keyword ?? "",
    stamp: line.slice(line.indexOf(" ")),
    number: Number(number),
    flags: Number(flags),
  };
}
