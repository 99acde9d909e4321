/** Where a column is in a row's text. */
import { expect, test } from "vitest";
import { columnsOf, splitAtColumn } from "../../../../daemon/panes/columns.ts";

test.each([
  ["abc", 0, "", "abc"],
  ["abc", 2, "ab", "c"],
  ["abc", 3, "abc", ""],
  ["abc", 5, "abc  ", ""],
  ["漢字x", 2, "漢", "字x"],
  // Within a wide character: it stands before the column.
  ["漢字x", 3, "漢字", "x"],
  ["e\u0301x", 1, "e\u0301", "x"],
  ["👍x", 2, "👍", "x"],
  ["\u200bx", 0, "\u200b", "x"],
])("%j is cut at column %i", (text, column, before, after) => {
  expect(splitAtColumn(text, column)).toEqual({ before, after });
});

test.each([
  ["", 0],
  ["abc", 3],
  ["漢字", 4],
  ["e\u0301", 1],
  ["👍a", 3],
])("%j takes %i columns", (text, columns) => {
  expect(columnsOf(text)).toBe(columns);
});
