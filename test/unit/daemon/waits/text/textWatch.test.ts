/** What one wait may match of a text, byte by byte: what the stream shows it, and what it shows late. */
import { expect, test } from "vitest";
import { LiteralSet } from "../../../../../daemon/waits/text/literalSet.ts";
import { PlainText } from "../../../../../daemon/waits/text/plainText.ts";
import { foundText, Latch, LiteralWatch } from "../../../../../daemon/waits/text/textWatch.ts";

/** Where the text begins in its source. */
const SOURCE = 10;

function textOf(words: string): PlainText {
  const text = new PlainText(SOURCE);
  text.append(Buffer.from(words), SOURCE, () => 0);
  return text;
}

test.each([
  ["aé", 3, "aé"],
  ["aéb", 3, "aé"],
  ["aé", 2, "a"],
  ["日本", 5, "日"],
  ["日本", 4, "日"],
  ["日", 2, ""],
])("of the match %j at most %i bytes are told, whole characters only: %j", (words, maxBytes, told) => {
  const text = textOf(words);
  const { head } = text;
  expect(foundText(text, 0, head, maxBytes)).toEqual({ text: told, from: SOURCE, to: SOURCE + head });
});

interface Watched {
  readonly latch: Latch;
  readonly watch: LiteralWatch;
  readonly literals: LiteralSet;
  readonly text: PlainText;
}

/** `DONE` in a text, from a source position on. */
function watched(words: string, start: number): Watched {
  const latch = new Latch(
    () => undefined,
    () => undefined,
    () => undefined,
  );
  const watch = new LiteralWatch(latch, Buffer.from("DONE"), start, 100);
  const literals = new LiteralSet();
  const text = textOf(words);
  watch.attach(text, literals);
  literals.watch(watch.bytes, watch);
  return { latch, watch, literals, text };
}

test.each([
  ["at its start", 11, Infinity, true],
  ["that begins before its start", 12, Infinity, false],
  ["that ends where text is held back", 10, 15, true],
  ["that ends in what is held back", 10, 14, false],
])("a literal %s counts or not", (_where, start, visibleTo, isFound) => {
  const { latch, watch, literals, text } = watched("xDONEx", start);
  watch.visibleTo = visibleTo;
  literals.scan(text, 0, text.head);
  expect([latch.match, literals.size]).toEqual(isFound ? [{ text: "DONE", from: 11, to: 15 }, 0] : [undefined, 1]);
});

test.each([
  [10, 16, true],
  [11, 15, true],
  [12, 16, false],
  [10, 14, false],
])("text that is shown late is searched from %i to %i and no further", (from, to, isFound) => {
  const { latch, watch, literals } = watched("xDONEx", SOURCE);
  watch.search(from, to);
  expect([latch.match, literals.size]).toEqual(isFound ? [{ text: "DONE", from: 11, to: 15 }, 0] : [undefined, 1]);
});

test("a literal that is over is not searched for, nor watched", () => {
  const { latch, watch, literals, text } = watched("DONE", SOURCE);
  watch.detach();
  watch.search(SOURCE, SOURCE + 4);
  literals.scan(text, 0, text.head);
  watch.detach();
  expect([latch.match, literals.size]).toEqual([undefined, 0]);
});
