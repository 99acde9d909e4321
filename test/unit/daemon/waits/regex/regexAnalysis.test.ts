import { expect, test } from "vitest";
import { analyseRegex } from "../../../../../daemon/waits/regex/regexAnalysis.ts";
import { DEFAULT_WAIT_LIMITS } from "../../../../../daemon/waits/waitLimits.ts";

const flags = { ignoreCase: false, multiline: true, dotAll: false };
const analyse = (text: string, changes: Partial<typeof flags> = {}) =>
  analyseRegex(text, { ...flags, ...changes }, DEFAULT_WAIT_LIMITS);

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
])("%s stays on one line: %s", (text, isSingleLine) => {
  expect(analyse(text).isSingleLine).toBe(isSingleLine);
});

test.each([
  ["a$", true],
  ["a\\b", true],
  ["a\\z", true],
  ["^a", false],
  ["a\\.", false],
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
])("%s could cost too much", (text) => {
  expect(() => analyse(text)).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }));
});

test.each(["^(a+)+$", "a{100}", "\\pL+", "(?:\\d{1,3}\\.){3}\\d{1,3}", "[\\w.-]{1,64}@[\\w.-]{1,64}"])(
  "%s is accepted",
  (text) => {
    expect(() => analyse(text)).not.toThrow();
  },
);

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
