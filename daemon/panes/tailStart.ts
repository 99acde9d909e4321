/** Where the last lines of a source's retained output begin: a backward search in pieces, without decoding. */
import type { OutputSource } from "../tmux/outputSource.ts";

const LF = 0x0a;
const ESC = 0x1b;
const PIECE_BYTES = 65_536;

/** The source position of the last `lines` lines; an unfinished line counts as one. The tail when there are fewer. */
export function tailStart(source: OutputSource, lines: number): number {
  let end = source.outputSeq;
  let left = lines;
  // An empty last line is not one: neither after a line end, nor with nothing but escape sequences on it.
  let isLastLine = true;
  let hasText = false;
  while (end > source.tailSeq) {
    const from = Math.max(source.tailSeq, end - PIECE_BYTES);
    const slice = source.read(from, end - from);
    // Something is missing here, or in what follows.
    if (slice.kind !== "bytes") return from;
    if (slice.to !== end) return slice.to;
    for (let at = slice.bytes.length; ;) {
      const found = at === 0 ? -1 : slice.bytes.lastIndexOf(LF, at - 1);
      if (isLastLine) hasText ||= holdsText(slice.bytes.subarray(found + 1, at));
      if (found < 0) break;
      if (!isLastLine || hasText) left--;
      isLastLine = false;
      if (left <= 0) return slice.from + found + 1;
      at = found;
    }
    end = from;
  }
  return source.tailSeq;
}

/** A visible character that is not part of a CSI sequence. */
function holdsText(bytes: Uint8Array): boolean {
  let inSequence = false;
  for (const byte of bytes) {
    if (byte === ESC) inSequence = true;
    else if (inSequence) inSequence = byte < 0x40 || byte === 0x5b;
    else if (byte >= 0x20) return true;
  }
  return false;
}
