/** Bytes cut into chunks anywhere: inside characters, escape sequences and words. */
import fc from "fast-check";

export const cutAt = (bytes: Uint8Array, places: readonly number[]): Uint8Array[] => {
  const sorted = [...new Set(places.map((place) => Math.min(place, bytes.length)))].sort((a, b) => a - b);
  return [...sorted, bytes.length].map((to, index) => bytes.subarray(index === 0 ? 0 : sorted[index - 1], to));
};

/** Places to cut at; small ones are likely, so that short inputs are cut as well. */
export const cuts = fc.array(fc.nat({ max: 60 }), { maxLength: 12 });

/** Pieces of terminal output that are awkward to cut, and words that patterns look for. */
const outputPiece = fc.constantFrom(
  "a",
  "b",
  "ab",
  "aab",
  "DONE",
  "DO",
  "NE",
  " ",
  "\u00e9",
  "\u65e5\u672c",
  "\u{1f600}",
  "\r\n",
  "\r\r\n",
  "\n",
  "\r",
  "\t",
  "\b",
  "\x1b[31m",
  "\x1b[0m",
  "\x1b[2J\x1b[H",
  "\x1b[1;5H",
  "\x1b]0;DONE\x07",
  "\x1b]0;DONE\x1b\\",
  "\x1bPq DONE\x1b\\",
  "\x1bkDONE\x1b\\",
  "\x1b(B",
  "\x1b[?2004h",
  "\x18",
);

export const output = fc.array(outputPiece, { maxLength: 24 }).map((pieces) => Buffer.from(pieces.join(""), "utf8"));
