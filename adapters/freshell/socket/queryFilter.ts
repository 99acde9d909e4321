/**
 * Questions to the terminal that tmux answers itself (docs/tmuxFacts.md, "Queries"): DA1, DA2, DSR 5 and 6, XTVERSION. They
 * are in the pane's output all the same, and a page's emulator would answer them a second time, into the program. Exactly
 * these are taken out; every other byte passes.
 */
import { VtParser } from "../../../daemon/panes/vt/vtParser.ts";
import { sequenceLength } from "../../../protocol/text/utf8.ts";
import { MAX_UNFINISHED_BYTES } from "../freshellLimits.ts";

export interface FilteredOutput {
  /** Whole characters and sequences. */
  readonly bytes: Uint8Array;
  /** At the end of what was given: what the next bytes complete. */
  readonly unfinished: Uint8Array;
}

const ESC = 0x1b;
const NOTHING = new Uint8Array(0);

/** By the final byte; tmux looks at the first parameter only. */
const QUERIES: ReadonlyMap<number, RegExp> = new Map([
  [0x63, /^>?0*(?:[;:][\d;:]*)?$/],
  [0x6e, /^0*[56](?:[;:][\d;:]*)?$/],
  [0x71, /^>0*(?:[;:][\d;:]*)?$/],
]);

interface Range {
  readonly begin: number;
  readonly end: number;
}

const found: Range[] = [];
const parser = new VtParser({
  csi: (parameters, final, begin, end) => {
    if (QUERIES.get(final)?.test(parameters) === true) found.push({ begin, end });
  },
});

/** @param bytes from the beginning of a character or sequence on */
export function filterQueries(bytes: Uint8Array): FilteredOutput {
  found.length = 0;
  let unfinishedAt = bytes.length;
  for (let at = bytes.indexOf(ESC); at !== -1; at = bytes.indexOf(ESC, at)) {
    const begin = at;
    parser.begin(begin);
    at = parser.skip(bytes, begin + 1, 0);
    if (!parser.isInside) continue;
    // Longer than any query: its rest is text to whoever reads on, as it is to an emulator.
    if (bytes.length - begin <= MAX_UNFINISHED_BYTES) unfinishedAt = begin;
    break;
  }
  parser.reset();
  if (unfinishedAt === bytes.length) unfinishedAt -= unfinishedCharacter(bytes);
  const whole = bytes.subarray(0, unfinishedAt);
  const unfinished = unfinishedAt === bytes.length ? NOTHING : bytes.slice(unfinishedAt);
  const queries = found.filter(({ end }) => end <= unfinishedAt);
  return { bytes: queries.length === 0 ? whole : without(whole, queries), unfinished };
}

/** Control characters inside a sequence act at once, and are kept. */
function without(bytes: Uint8Array, queries: readonly Range[]): Uint8Array {
  const out = new Uint8Array(bytes.length);
  let length = 0;
  let at = 0;
  const keep = (from: number, to: number): void => {
    out.set(bytes.subarray(from, to), length);
    length += to - from;
  };
  for (const { begin, end } of queries) {
    keep(at, begin);
    for (let index = begin + 1; index < end; index += 1) if (bytes[index]! < 0x20) keep(index, index + 1);
    at = end;
  }
  keep(at, bytes.length);
  return out.subarray(0, length);
}

/** Bytes at the end that begin a character and do not complete it. */
function unfinishedCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}
