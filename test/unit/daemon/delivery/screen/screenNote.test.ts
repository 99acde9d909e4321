/** What is said of a screen stands in one line. */
import { expect, test } from "vitest";
import { oneLine } from "../../../../../daemon/delivery/screen/screenNote.ts";

test.each([
  ["blanks", ["  a", "", "b  c "], "a b c"],
  ["controls", ["a\u0007b\u200bc\u2028d"], "a b c d"],
  ["frames", ["│ no key ─╯"], "no key"],
  ["as much as there is room for", ["x".repeat(300)], "x".repeat(300)],
  ["more", ["x".repeat(301)], `${"x".repeat(299)}…`],
  ["a letter that does not fit", [`${"x".repeat(298)}😀😀`], `${"x".repeat(298)}…`],
])("rows are one bounded line: %s", (_what, rows, line) => {
  expect(oneLine(rows)).toBe(line);
});
