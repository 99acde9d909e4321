/** What a screen says since a prompt was typed, in one line. */
import { expect, test } from "vitest";
import { echoProbe } from "../../../../../daemon/delivery/screen/promptEcho.ts";
import type { ScreenCapture } from "../../../../../daemon/delivery/screen/screenCapture.ts";
import { failureOn, noteOn, oneLine } from "../../../../../daemon/delivery/screen/screenNote.ts";
import { MAX_ROW_CHARACTERS, type Profile } from "../../../../../daemon/readiness/profile.ts";

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

/** The row that begins with `❯` is the box's. */
function screen(...lines: readonly string[]): ScreenCapture {
  const row = lines.findIndex((line) => line.startsWith("❯"));
  return { screen: { lines }, box: row < 0 ? undefined : { row, typed: "" } } as unknown as ScreenCapture;
}

test.each<[string, readonly string[], string | undefined]>([
  ["nothing new", ["old", "❯ "], undefined],
  ["a new row", ["old", "no key", "❯ "], "no key"],
  ["no more than three rows", ["old", "one", "two", "three", "four"], "two three four"],
  ["nothing from the box on", ["old", "❯ more", "hint"], undefined],
  ["not the prompt", ["old", "> please fix it all now", "no key"], "no key"],
  ["no part of the prompt", ["old", "fix it all", "no key"], "no key"],
  ["no frame alone", ["old", "────", "no key"], "no key"],
])("a note has %s", (_what, after, note) => {
  expect(noteOn(screen("old", "❯ "), screen(...after), echoProbe("please fix it all now", []))).toBe(note);
});

const failing = (...failures: readonly RegExp[]) => ({ submit: { failures } }) as unknown as Profile;

test.each<[string, readonly RegExp[], readonly string[], string | undefined]>([
  [
    "the last new row that one of the patterns knows",
    [/^x/, /error/],
    ["error 0", "error 1", "error 2", "done"],
    "error 2",
  ],
  ["no row that was there before", [/error/], ["error 0", "done"], undefined],
  ["no row where no pattern is known", [], ["error 0", "error 1"], undefined],
  ["no row of the box", [/error/], ["error 0", "❯ error"], undefined],
  ["no more of a row than a pattern may read", [/x$/], [`${"o".repeat(MAX_ROW_CHARACTERS)}x`], undefined],
])("a failure is %s", (_what, failures, after, failure) => {
  expect(failureOn(failing(...failures), screen("error 0"), screen(...after))).toBe(failure);
});
