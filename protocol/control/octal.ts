/**
 * tmux's escaping of `%output`: bytes below 0x20 and the backslash as `\ooo`, everything else raw
 * (control.c `control_append_data`). Decoding never grows, never throws and writes straight into the destination.
 */
const BACKSLASH = 92;
const ZERO = 48;
/** Below this length a byte loop beats `indexOf` + `set`, measured by `bench/decode`. */
const BULK_COPY_BYTES = 32;

/**
 * Decodes `source[from, to)` into `target` at `at` and returns the end of what was written, at most `at + to - from`.
 * A backslash that does not begin a three-digit octal number is kept as it stands.
 */
export function decodeOctal(source: Uint8Array, from: number, to: number, target: Uint8Array, at: number): number {
  let read = from;
  let write = at;
  while (read < to) {
    let byte = source[read]!;
    if (byte === BACKSLASH) {
      if (read + 3 < to) {
        const high = source[read + 1]! - ZERO;
        const middle = source[read + 2]! - ZERO;
        const low = source[read + 3]! - ZERO;
        if (high >= 0 && high <= 3 && middle >= 0 && middle <= 7 && low >= 0 && low <= 7) {
          target[write++] = (high << 6) | (middle << 3) | low;
          read += 4;
          continue;
        }
      }
      target[write++] = byte;
      read += 1;
      continue;
    }
    // A short run is copied byte by byte; once it has proved long the rest of it is found and copied in one step.
    const probeEnd = Math.min(to, read + BULK_COPY_BYTES);
    do {
      target[write++] = byte;
      read += 1;
      if (read === probeEnd) break;
      byte = source[read]!;
    } while (byte !== BACKSLASH);
    if (read === probeEnd && read < to && source[read] !== BACKSLASH) {
      const next = source.indexOf(BACKSLASH, read);
      const runEnd = next === -1 || next > to ? to : next;
      target.set(source.subarray(read, runEnd), write);
      write += runEnd - read;
      read = runEnd;
    }
  }
  return write;
}

/** The inverse, as tmux does it: for tests, golden transcripts and the stub side of a wire. */
export function encodeOctal(bytes: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (const byte of bytes) {
    if (byte < 0x20 || byte === BACKSLASH) {
      out.push(BACKSLASH, ZERO + (byte >> 6), ZERO + ((byte >> 3) & 7), ZERO + (byte & 7));
    } else {
      out.push(byte);
    }
  }
  return Uint8Array.from(out);
}
