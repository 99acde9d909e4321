import fc from "fast-check";
import { expect, test } from "vitest";
import { LiteralSet } from "../../daemon/waits/text/literalSet.ts";
import { PlainText } from "../../daemon/waits/text/plainText.ts";
import { stripAnsi } from "../support/tmux/stripAnsi.ts";
import { cutAt, cuts, output } from "../unit/protocol/text/cuts.ts";

const word = fc.array(fc.constantFrom("a", "b", "D", "O", "NE", "\u00e9", "\n", " ", "DONE"), {
  minLength: 1,
  maxLength: 6,
});

/** Every place where `wanted` is, overlapping ones too. */
function places(text: Buffer, wanted: Buffer): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) found.push(at);
  return found;
}

/** Feeds chunks and adds each literal before the chunk with its number; returns what was found of each. */
function scanInChunks(
  chunks: readonly Uint8Array[],
  words: readonly Buffer[],
  joinAt: (index: number) => number,
): number[][] {
  const text = new PlainText(0);
  const set = new LiteralSet();
  const found: number[][] = words.map(() => []);
  let source = 0;
  for (const [number, chunk] of chunks.entries()) {
    for (const [index, bytes] of words.entries()) {
      if (joinAt(index) === number)
        set.watch(bytes, { literalFound: (at, to) => void found[index]?.push(to - at === bytes.length ? at : -1) });
    }
    const from = text.head;
    text.append(chunk, source, () => text.head - 64);
    source += chunk.length;
    set.scan(text, from, text.head);
  }
  return found;
}

const unique = (words: readonly string[][]): Buffer[] =>
  [...new Set(words.map((parts) => parts.join("")))].map((text) => Buffer.from(text));

/** Places and lengths of literals that are in the text, long ones too. */
const spans = fc.array(fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 30 })), { minLength: 1, maxLength: 20 });
const withTaken = (
  words: readonly Buffer[],
  whole: Buffer,
  taken: readonly (readonly [number, number])[],
): Buffer[] => {
  const all = [...words, ...taken.map(([at, length]) => whole.subarray(at, at + length))];
  return [...new Map(all.map((bytes) => [bytes.toString("latin1"), bytes])).values()].filter(
    ({ length }) => length > 0,
  );
};

for (const [what, minLength, maxLength] of [
  ["a few, one by one", 1, 8],
  ["many, by automaton", 9, 120],
] as const) {
  test(`literals under any chunking are found where the whole text has them: ${what}`, () => {
    fc.assert(
      fc.property(output, cuts, fc.array(word, { minLength, maxLength }), spans, (bytes, where, parts, taken) => {
        const whole = Buffer.from(stripAnsi(bytes));
        const words = minLength > 1 ? withTaken(unique(parts), whole, taken) : unique(parts);
        const found = scanInChunks(cutAt(bytes, where), words, () => 0);
        expect(found.map((list) => list.toSorted((a, b) => a - b))).toEqual(
          words.map((wanted) => places(whole, wanted)),
        );
      }),
      { numRuns: 500 },
    );
  });
}

test("literals that join later find everything that ends after they joined", () => {
  fc.assert(
    fc.property(
      output,
      cuts,
      fc.array(word, { minLength: 1, maxLength: 40, size: "max" }),
      fc.nat({ max: 5 }),
      (bytes, where, parts, spread) => {
        const words = unique(parts);
        const chunks = cutAt(bytes, where);
        const joinAt = (index: number): number => index % (spread + 1);
        const found = scanInChunks(chunks, words, joinAt);
        const whole = Buffer.from(stripAnsi(bytes));
        for (const [index, wanted] of words.entries()) {
          const before = chunks.slice(0, joinAt(index)).reduce((sum, chunk) => sum + chunk.length, 0);
          const seen = stripAnsi(bytes.subarray(0, before)).length;
          const expected =
            joinAt(index) >= chunks.length ? [] : places(whole, wanted).filter((at) => at + wanted.length > seen);
          expect(found[index]?.toSorted((a, b) => a - b)).toEqual(expected);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test("removed literals are found no more, the others still are", () => {
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 100 }), fc.func(fc.boolean()), (parts, isRemoved) => {
      const words = unique(parts);
      const text = new PlainText(0);
      const set = new LiteralSet();
      const found = new Set<number>();
      const watchers = words.map((_bytes, index) => ({ literalFound: () => void found.add(index) }));
      for (const [index, bytes] of words.entries()) set.watch(bytes, watchers[index]!);
      const all = Buffer.concat(words.flatMap((bytes) => [bytes, Buffer.from("|")]));
      text.append(Buffer.from("|"), 0, () => 0);
      set.scan(text, 0, text.head);
      const removed = words.map((_bytes, index) => isRemoved(index));
      for (const [index, bytes] of words.entries()) if (removed[index]!) set.unwatch(bytes, watchers[index]!);
      found.clear();
      const from = text.head;
      text.append(all, from, () => 0);
      set.scan(text, from, text.head);
      for (const [index, isGone] of removed.entries()) expect(found.has(index)).toBe(!isGone);
    }),
    { numRuns: 300 },
  );
});
