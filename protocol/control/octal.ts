/**
 * tmux's escaping of `%output`: bytes below 0x20 and the backslash as `\ooo`, everything else raw
 * (control.c `control_append_data`). Decoding never grows, never throws and writes straight into the destination.
 */
const BACKSLASH = 92;
const ZERO = 48;

/**
 * Decodes `source[from, to)` into `target` at `at` and returns the end of what was written, at most `at + to - from`.
 * A backslash that does not begin a three-digit octal number is kept unchanged.
 */
export function decodeOctal(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
  let read = from;
  let write = at;
  /** The last index at which an escape, or four bytes, can begin. */
  const end = to - 3;
  while (read < end) {
    // Four plain bytes per iteration, which is faster than one, and than `indexOf` with `set` (`bench/decode`).
    const first = source[read]!;
    if (first !== BACKSLASH) {
      target[write++] = first;
      const second = source[read + 1]!;
      if (second === BACKSLASH) {
        read += 1;
      } else {
        target[write++] = second;
        const third = source[read + 2]!;
        if (third === BACKSLASH) {
          read += 2;
        } else {
          target[write++] = third;
          const fourth = source[read + 3]!;
          if (fourth !== BACKSLASH) {
            target[write++] = fourth;
            read += 4;
            continue;
          }
          read += 3;
        }
      }
      if (read >= end) break;
    }
    const high = source[read + 1]! - ZERO;
    const middle = source[read + 2]! - ZERO;
    const low = source[read + 3]! - ZERO;
    if (((high | middle | low) & ~7) === 0 && high <= 3) {
      target[write++] = (high << 6) | (middle << 3) | low;
      read += 4;
    } else {
      target[write++] = BACKSLASH;
      read += 1;
    }
  }
  while (read < to) target[write++] = source[read++]!;
  return write;
}
