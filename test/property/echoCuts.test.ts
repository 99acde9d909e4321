/** However output is cut, the same of it is taken for the echo of what was typed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { EchoMask } from "../../daemon/waits/echo/echoMask.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";
import { cutAt, cuts } from "../unit/protocol/text/cuts.ts";

const START = 10;
/** A sequence or a character, its bytes as latin1. */
const PIECE = new RegExp(String.raw`\u001b\[[^@-~]*[@-~]|[\u00c0-\u00ff][\u0080-\u00bf]*|[^]`, "g");

/** Lines, their beginnings, and how editors draw them. */
const output = fc
  .array(
    fc.constantFrom(
      ..."make|ma|mak|ke|e|m| |  |x|é|-|---|ma ke|$ |a|aab".split("|"),
      ..."\r\n|\r\n|\r| \r|\n|\b|\b\b|\t".split("|"),
      ..."[K [1K [2K [J [C [2D [3G [P [2@ [31m [0m [H [2J [?2004h [?2004l [?1049h"
        .split(" ")
        .map((csi) => `\u001b${csi}`),
    ),
    { maxLength: 14 },
  )
  .map((pieces) => Buffer.from(pieces.join("")));

const typing = fc.record({
  typed: fc
    .constantFrom("make", "make\r", "ma ke\r", "make  \r", "make\rma\r", "--x\r", "--", "aab\r", "é\r", "m")
    .map((text) => Buffer.from(text)),
  row: fc.constantFrom("", "$ ", "m", "ma", "\u001b[31m$ ").map((text) => Buffer.from(text)),
  isLineEditor: fc.boolean(),
  isShellEditor: fc.boolean(),
  windowBytes: fc.constantFrom(4, 9, 1_000),
});

/** The text that a search has seen, each character with its place. */
function seen(options: Omit<ConstructorParameters<typeof EchoMask>[0], "start">, chunks: readonly Uint8Array[]) {
  const mask = new EchoMask({ ...options, start: START });
  const places = new Set<number>();
  const add = (from: number, to: number): void => {
    for (let place = from; place < to; place++) places.add(place);
  };
  let end = START;
  for (const chunk of chunks) {
    mask.feed(chunk, end);
    const from = end;
    end += chunk.length;
    add(Math.max(from, mask.hiddenTo), Math.min(end, mask.visibleTo));
    for (const range of mask.takeShown(end)) add(range.from, range.to);
  }
  // Of a character the last byte counts: nothing matches half a character.
  const text = Array.from(Buffer.concat(chunks).toString("latin1").matchAll(PIECE))
    .map(({ 0: piece, index }) => ({ piece, last: index + piece.length - 1 }))
    .filter(({ piece, last }) => /^[!-\u00ff]/.test(piece) && places.has(START + last))
    .map(({ piece, last }) => `${last}${piece}`);
  return { text, isOver: mask.isOver, isHolding: mask.visibleTo < end };
}

test(
  "what is hidden does not depend on the cut",
  () => {
    fc.assert(
      fc.property(typing, output, cuts, (options, bytes, places) => {
        const everywhere = Array.from(bytes, (_byte, at) => at);
        const whole = seen(options, [bytes]);
        for (const at of [places, everywhere]) expect(seen(options, cutAt(bytes, at))).toEqual(whole);
      }),
      fuzz(2_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);
