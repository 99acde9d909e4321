/** However output is cut, the same of it is taken for the echo of what was typed. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { EchoRow } from "../../daemon/waits/echo/echoRow.ts";
import { TypedProgress } from "../../daemon/waits/echo/typedLines.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";
import { seenText } from "../unit/daemon/waits/echo/seenText.ts";
import { cutAt, cuts } from "../unit/protocol/text/cuts.ts";

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

test(
  "what is hidden does not depend on the cut",
  () => {
    fc.assert(
      fc.property(typing, output, cuts, (options, bytes, places) => {
        const everywhere = Array.from(bytes, (_byte, at) => at);
        const whole = seenText(options, [bytes]);
        for (const at of [places, everywhere]) expect(seenText(options, cutAt(bytes, at))).toEqual(whole);
      }),
      fuzz(2_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);

type Change = (row: EchoRow, at: number) => EchoRow | void;
const changes: fc.Arbitrary<readonly Change[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom("a", "b", " ").map(
        (character): Change =>
          (row, at) =>
            row.put(character, at),
      ),
    },
    fc.constantFrom(-3, -1, 2).map(
      (columns): Change =>
        (row) =>
          row.move(columns),
    ),
    fc.constantFrom(0, 1, 4).map(
      (column): Change =>
        (row) =>
          row.column(column),
    ),
    fc.constantFrom(0, 1, 2).map(
      (which): Change =>
        (row) =>
          row.erase(which),
    ),
    fc.constantFrom(-2, -1, 1).map(
      (columns): Change =>
        (row) =>
          row.shift(columns),
    ),
    fc.constant<Change>((row, at) => {
      const next = new EchoRow(at);
      next.continueFrom(row);
      return next;
    }),
  ),
  { maxLength: 30 },
);
const lines = fc
  .constantFrom("a", "ab", "aab", "abab", "a b", "aba ")
  .map((text) => new TypedProgress(Buffer.from(text), false).line!);

test(
  "what a row ends in does not depend on how often it is asked",
  () => {
    fc.assert(
      fc.property(lines, changes, fc.nat({ max: 4 }), (line, all, primed) => {
        const result = (isAskedOften: boolean): unknown => {
          let row = new EchoRow(0);
          for (const [at, change] of all.entries()) {
            row = change(row, at) ?? row;
            if (at === primed) row.begin();
            else if (isAskedOften && at > primed) void [row.beginningOf(line), row.endsWith(line), row.mayWrap(line)];
          }
          return [row.beginningOf(line), row.endsWith(line), row.mayWrap(line)];
        };
        expect(result(true)).toEqual(result(false));
      }),
      fuzz(3_000),
    );
  },
  FUZZ_TIMEOUT_MS,
);
