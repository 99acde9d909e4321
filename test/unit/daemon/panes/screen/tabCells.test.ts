/** Captures of tmux 3.6b, 3.7c and next-3.8, which print TABs, beside what 3.3a printed of the same screens. */
import { expect, test } from "vitest";
import { decodeTabs, expandTabs } from "../../../../../daemon/panes/screen/tabCells.ts";

const usual = { cols: 30, tabs: undefined };

test.each([
  ["a\tb", "a       b"],
  ["漢\tb", "漢      b"],
  ["\tx\t\tc\t", "        x               c"],
  ["long row with \t tabs wraps he", "long row with    tabs wraps he"],
  ["re\tz", "re      z"],
  // Joined: what comes after the edge is in the next row.
  ["e\tfghijklmn\top\tqr\ts", "e       fghijklmn       op   qr       s"],
  ["long row with \t tabs wraps here\tz", "long row with    tabs wraps here      z"],
  [`${"x".repeat(30)}\t\t\tx\ty`, `${"x".repeat(30)}${" ".repeat(24)}x    y`],
  [`${"x".repeat(29)}漢\tb`, `${"x".repeat(29)}漢      b`],
  // With attributes, and with the blanks behind the text.
  [
    "\u001b[31mred\u001b[39m\t\u001b[31m\u001b[42mgreen\u001b[39m\u001b[49m\tend           ",
    "\u001b[31mred\u001b[39m     \u001b[31m\u001b[42mgreen\u001b[39m\u001b[49m   end           ",
  ],
  ["\u001b[31mred\t\u001b[39m", "\u001b[31mred\u001b[39m"],
  ["no tab  ", "no tab  "],
])("%j", (row, blanks) => {
  expect(expandTabs(row, usual)).toBe(blanks);
});

test.each(["é\t|", "e\u0301\t|", "ｱ\t|", "➜\t|"])("one column: %s", (row) => {
  expect(expandTabs(row, usual)).toBe(`${row.slice(0, -2)}${" ".repeat(7)}|`);
});

test.each(["ｗ\t|", "🙂\t|", "한\t|", "👩‍🚀\t|", "❤️\t|", "👍🏽\t|", "🇩🇪\t|"])("two columns: %s", (row) => {
  expect(expandTabs(row, usual)).toBe(`${row.slice(0, -2)}${" ".repeat(6)}|`);
});

test("stops of a program's own", () => {
  const layout = { cols: 30, tabs: decodeTabs("4,10", 30) };
  expect(expandTabs("1\t2\t3\t4", layout)).toBe("1   2     3                  4");
  expect(expandTabs("1234\t2", layout)).toBe("1234      2");
  expect([decodeTabs("8,16,24", 30), decodeTabs("", 8)]).toEqual([undefined, undefined]);
  expect(decodeTabs("8,10,24", 30)).toEqual([8, 10, 24]);
  expect(expandTabs("1\t2", { cols: 30, tabs: decodeTabs("", 30) })).toBe(`1${" ".repeat(28)}2`);
});
