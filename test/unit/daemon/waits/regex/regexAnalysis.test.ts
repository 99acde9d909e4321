import { expect, test } from "vitest";
import { analyseRegex } from "../../../../../daemon/waits/regex/regexAnalysis.ts";
import { DEFAULT_WAIT_LIMITS } from "../../../../../daemon/waits/waitLimits.ts";

const flags = { ignoreCase: false, multiline: true, dotAll: false };
const analyse = (text: string, changes: Partial<typeof flags> = {}) =>
  analyseRegex(text, { ...flags, ...changes }, DEFAULT_WAIT_LIMITS);

/** As many texts as are searched for at most. */
const TWELVE = Array.from("abcdefghijkl", (letter) => letter + letter);

test.each([
  ["DONE", ["DONE"]],
  ["^\\d+ tests passed$", [" tests passed"]],
  ["(?:error|failed): .*", ["error: ", "failed: "]],
  ["(a|b)cd", ["acd", "bcd"]],
  ["ab*cd+ef", ["ef"]],
  ["a.b", undefined],
  ["\\w+", undefined],
  ["x|\\d+", undefined],
  ["(?i)go", ["go", "gO", "Go", "GO"]],
  ["(?i)ok", undefined],
  ["\\Qa.c\\E\\d", ["a.c"]],
  ["\\$ $", ["$ "]],
  ["[Dd]one", ["Done", "done"]],
  ["(?:abc)?def", ["abcdef", "def"]],
  ["(?:abc){2,}", ["abc"]],
  ["\\x41\\u0042\\x{43}", ["ABC"]],
  ["100%", ["100%"]],
  ["(?P<n>ab)(?<m>cd)", ["abcd"]],
  [`(?:${TWELVE.join("|")})`, TWELVE],
  [`(?:${TWELVE.join("|")}|mm)`, undefined],
  [`(?:${TWELVE.join("|")})?z`, undefined],
  ["a".repeat(65), ["a".repeat(64)]],
  ["(?:a|b)\\d", undefined],
  ["(?:foo\\d|bar\\d)", ["foo", "bar"]],
  ["(?:foo\\d|\\d)", undefined],
  ["(?:|ab)", undefined],
  ["(?:ab)?", undefined],
  ["(?:ab){0,2}cd", ["cd"]],
  ["(?:ab){1}cd", ["abcd"]],
  ["(?:ab){0}cd", ["cd"]],
  ["(?:a\\d)?cd", ["cd"]],
  ["%|5", undefined],
  ["5", undefined],
  [" ", undefined],
  ["%", ["%"]],
])("every match of %s contains one of %j", (text, required) => {
  expect(analyse(text).required?.toSorted()).toEqual(required?.toSorted());
});

test.each([
  ["a.b", true],
  ["a\\sb", false],
  ["a[^b]c", false],
  ["a[^\\nb]c", true],
  ["a\\nb", false],
  ["a\\Db", false],
  ["[\\x00-\\x20]", false],
  ["(?s)a.b", false],
  ["a\\d+$", true],
  ["(?:a\\n)?b", false],
  ["(?:a|\\n)b", false],
])("%s stays on one line: %s", (text, isSingleLine) => {
  expect(analyse(text).isSingleLine).toBe(isSingleLine);
});

test.each([
  ["a$", true],
  ["a\\b", true],
  ["a\\z", true],
  ["^a", false],
  ["a\\.", false],
  ["(?:a$|b)", true],
  ["(?:a\\b)*", true],
])("%s rests on what follows: %s", (text, restsOnEnd) => {
  expect(analyse(text).restsOnEnd).toBe(restsOnEnd);
});

test.each([
  "(?:.{1,30}){1,30}Q",
  ".{0,900}q",
  "a{101}",
  "(\\p{L}{1,30}){30}",
  "[\\p{L}\\d]{40}",
  "(?:(?:a{5}){5}){5}",
  "\\pL{20}",
  "(?=x)(?:.{1,30}){1,30}",
  "(?=x)a{101}",
  "(?=x)a{5,101}",
  "a|b{101}",
  "ab{101}",
  "a".repeat(2_000),
  `(?=x)${"a".repeat(2_000)}`,
])("%s could cost too much", (text) => {
  expect(() => analyse(text)).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }));
});

test.each([
  "^(a+)+$",
  "a{100}",
  "\\pL+",
  "(?:\\d{1,3}\\.){3}\\d{1,3}",
  "[\\w.-]{1,64}@[\\w.-]{1,64}",
  "a".repeat(1_999),
  "(?=x)a{18}",
  "a\\\\C",
  `(?=x)${"a".repeat(1_000)}`,
])("%s is accepted", (text) => {
  expect(() => analyse(text)).not.toThrow();
});

test("JavaScript's spellings become RE2's", () => {
  expect(analyse("(?<n>\\u0041\\u{1f600}\\cA)\\Q(?<\\u0041\\E").re2Pattern).toBe(
    "(?m)(?P<n>\\x{0041}\\x{1f600}\\x{1})\\Q(?<\\u0041\\E",
  );
  for (const kept of ["[(?<]x", "[(?<n>]x", "[^](?<n>]x", "[[:alpha:](?<n>]x", "[[(?<n>]x"])
    expect(analyse(kept, { multiline: false }).re2Pattern).toBe(kept);
  for (const group of ["[a]", "[]a]", "[a[]", "[[^]", "[[:alpha:]]", "\\[", "]"])
    expect(analyse(`${group}(?<n>x)`, { multiline: false }).re2Pattern).toBe(`${group}(?P<n>x)`);
  expect(analyse("a", { multiline: false }).re2Pattern).toBe("a");
  expect(() => analyse("\\C")).toThrow(expect.objectContaining({ code: "INVALID_ARGUMENT" }));
});
