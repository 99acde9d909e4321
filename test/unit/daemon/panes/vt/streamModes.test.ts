/** The modes of a source, read on from where they were read before. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { modesAt } from "../../../../../daemon/panes/vt/streamModes.ts";
import { MemorySource } from "../../../../support/daemon/memorySource.ts";
import { cutAt, cuts } from "../../../protocol/text/cuts.ts";

const PIECES = [
  "\u001b[31;1m",
  "\u001b[0m",
  "\u001b[48;5;12m",
  "\u001b[m",
  "\u001b7",
  "\u001b8",
  "\u001b(0",
  "\u001b(B",
];
const MODES = [
  "\u001b[?1049h",
  "\u001b[?1049l",
  "\u001b[?2004h",
  "\u001b[?1004l",
  "\u001b[4 q",
  "\u001bc",
  "\u000e",
  "\u000f",
];
const output = fc
  .array(fc.oneof(fc.constantFrom(...PIECES, ...MODES), fc.string({ maxLength: 5 })), { maxLength: 40 })
  .map((pieces) => Buffer.from(pieces.join("")));

test("however often they are asked for on the way, they are those of all of it", () => {
  fc.assert(
    fc.property(output, cuts, (bytes, at) => {
      const [whole, often] = [new MemorySource(), new MemorySource()];
      whole.write(bytes);
      for (const piece of cutAt(bytes, at)) {
        often.write(piece);
        modesAt(often, often.outputSeq);
      }
      expect(modesAt(often, often.outputSeq)).toEqual(modesAt(whole, whole.outputSeq));
    }),
  );
});

test("what was read before it left the ring is known; a position before what was read is read anew", () => {
  const source = new MemorySource({ ringBytes: 64 });
  source.write("\u001b[?2004h");
  expect(modesAt(source, source.outputSeq).bracketedPaste).toBe(true);
  source.write("x".repeat(40));
  const before = source.outputSeq;
  source.write("\u001b[?2004l");
  expect(modesAt(source, source.outputSeq).bracketedPaste).toBe(false);
  expect(modesAt(source, before).bracketedPaste).toBe(true);
  for (let count = 0; count < 3; count += 1) source.write("x".repeat(60));
  expect(modesAt(source, source.outputSeq).bracketedPaste).toBe(false);
  source.write("\u001b[?2004h");
  for (let count = 0; count < 6; count += 1) {
    expect(modesAt(source, source.outputSeq).bracketedPaste).toBe(true);
    if (count % 2 === 0) source.write("x".repeat(64));
  }
});
