/**
 * Terminal queries that this version of tmux answers itself (docs/tmuxFacts.md, "Questions to the terminal"). They are
 * still in the pane's output, and a page's emulator would answer them a second time, into the program. Exactly these are
 * removed; every other byte passes.
 */
import { releaseOf } from "../../../daemon/connection/tmuxVersion.ts";
import { VtParser } from "../../../daemon/panes/vt/vtParser.ts";
import { sequenceLength } from "../../../protocol/text/utf8.ts";
import { MAX_UNFINISHED_BYTES } from "../freshellLimits.ts";

interface FilteredOutput {
  /** Whole characters and sequences. */
  readonly bytes: Uint8Array;
  /** The incomplete end, to be completed by the next bytes. */
  readonly unfinished: Uint8Array;
}

const ESC = 0x1b;
const NOTHING = new Uint8Array(0);

/** By the final byte: the parameters, with their prefix and intermediates, and the first release of tmux that answers. */
const QUERIES: ReadonlyMap<number, readonly (readonly [parameters: RegExp, since: number])[]> = new Map([
  // DA1, DA2: tmux looks at the first parameter only.
  [0x63, [[/^>?0*(?:[;:][\d;:]*)?$/, 0]]],
  // DSR 5 and 6.
  [0x6e, [[/^0*[56](?:[;:][\d;:]*)?$/, 0]]],
  // XTVERSION.
  [0x71, [[/^>0*(?:[;:][\d;:]*)?$/, 0]]],
  // XTWINOPS: the size in cells, and in pixels.
  [
    0x74,
    [
      [/^18$/, 0],
      [/^1[46]$/, 304],
    ],
  ],
  // DECRQM, of private modes and of ANSI's; 3.6 answers unknown private ones too, as not recognized.
  [
    0x70,
    [
      [/^\?\d+\$$/, 307],
      [/^\d+\$$/, 307],
      [/^\?(?:12|2004|1004|1006|2031)\$$/, 306],
    ],
  ],
]);
/** DECRQSS, from 3.6 on. */
const STATUS_STRING = Buffer.from("\u001bP$q");
const STATUS_STRING_SINCE = 306;

interface Range {
  readonly begin: number;
  readonly end: number;
}

/** @param tmuxVersion as tmux reports it; undefined: only what every tmux answers */
export function queryFilter(tmuxVersion: string | undefined): (bytes: Uint8Array) => FilteredOutput {
  const version = tmuxVersion?.replace(/^tmux /, "");
  const release = version === undefined ? 0 : (releaseOf(version) ?? Number.POSITIVE_INFINITY);
  const found: Range[] = [];
  const parser = new VtParser({
    csi: (parameters, final, begin, end) => {
      const asked = QUERIES.get(final)?.some(([pattern, since]) => release >= since && pattern.test(parameters));
      if (asked === true) found.push({ begin, end });
    },
  });
  const isStatusString = (bytes: Uint8Array, at: number): boolean =>
    release >= STATUS_STRING_SINCE && STATUS_STRING.equals(bytes.subarray(at, at + STATUS_STRING.length));

  /** @param bytes from the beginning of a character or sequence on */
  return (bytes) => {
    found.length = 0;
    let unfinishedAt = bytes.length;
    for (let at = bytes.indexOf(ESC); at !== -1; at = bytes.indexOf(ESC, at)) {
      const begin = at;
      const plain = endOfOther(bytes, begin);
      if (plain !== undefined) {
        at = plain;
        continue;
      }
      parser.begin(begin);
      at = parser.skip(bytes, begin + 1, 0);
      if (parser.isInside) {
        // Longer than any query: its rest is text to whoever reads on, as it is to an emulator.
        if (bytes.length - begin <= MAX_UNFINISHED_BYTES) unfinishedAt = begin;
        break;
      }
      if (isStatusString(bytes, begin)) found.push({ begin, end: at });
    }
    parser.reset();
    if (unfinishedAt === bytes.length) unfinishedAt -= unfinishedCharacter(bytes);
    const whole = bytes.subarray(0, unfinishedAt);
    const unfinished = unfinishedAt === bytes.length ? NOTHING : bytes.slice(unfinishedAt);
    const queries = found.filter(({ end }) => end <= unfinishedAt);
    return { bytes: queries.length === 0 ? whole : without(whole, queries), unfinished };
  };
}

/** The end of a complete CSI that is no query, as nearly all are: colours, the cursor. */
function endOfOther(bytes: Uint8Array, begin: number): number | undefined {
  if (bytes[begin + 1] !== 0x5b) return undefined;
  let at = begin + 2;
  while (at < bytes.length && bytes[at]! >= 0x20 && bytes[at]! <= 0x3f) at += 1;
  const final = bytes[at];
  return final !== undefined && final >= 0x40 && final <= 0x7e && !QUERIES.has(final) ? at + 1 : undefined;
}

/** Control characters inside a sequence take effect at once, so they are kept. */
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
    for (let index = begin + 1; index < end; index += 1) {
      if (bytes[index]! < 0x20 && bytes[index] !== ESC) keep(index, index + 1);
    }
    at = end;
  }
  keep(at, bytes.length);
  return out.subarray(0, length);
}

/** Number of bytes of an incomplete character at the end. */
function unfinishedCharacter(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? back : 0;
  }
  return 0;
}
