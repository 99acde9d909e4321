/** Which rows of a screen count as new, on captures made by hand: what only rare moments of a real pane would show. */
import { describe, expect, test } from "vitest";
import type { Capture } from "../../../../../daemon/tmux/io.ts";
import { mayWrap, ScreenBeginning, wrapsOf } from "../../../../../daemon/waits/screen/screenView.ts";
import { ScreenEcho, ScreenWatch } from "../../../../../daemon/waits/screen/screenWatch.ts";
import { Latch, LiteralWatch } from "../../../../../daemon/waits/text/textWatch.ts";

/** `screen` is the last `rows` rows, what comes before it is history. */
function capture(lines: readonly string[], rest: Partial<Capture> = {}): Capture {
  return {
    lines,
    position: { epoch: "e", outputSeq: 0 },
    exact: true,
    cols: 20,
    rows: 4,
    cursor: { col: 2, row: 2 },
    alternateScreen: false,
    historyLines: 0,
    ...rest,
  };
}

const BEGINNING = capture(["one", "two", "$", ""], { historyLines: 10 });
const newLines = (now: Capture, since = "", beginning = BEGINNING): readonly (readonly string[])[] =>
  new ScreenBeginning(beginning).newStretches(now, since, []);

describe("rows that count", () => {
  test("none while nothing has changed, blanks at their ends aside", () => {
    expect(newLines(capture(["one  ", "two", "$ ", ""], { historyLines: 10 }))).toEqual([]);
  });
  test("those that were drawn in the middle, each stretch by itself", () => {
    expect(newLines(capture(["uno", "two", "$ ls", "a"], { historyLines: 10 }))).toEqual([["uno"], ["$ ls", "a"]]);
  });
  test("scrolled by one: the same text in the next row is new", () => {
    expect(newLines(capture(["two", "$", "$", ""], { historyLines: 11 }))).toEqual([["$"]]);
  });
  test("scrolled off: what came after the beginning counts in the history as well", () => {
    const now = capture(["one", "two", "$", "a", "b", "c", "d", "$"], { historyLines: 14 });
    expect(newLines(now)).toEqual([["a", "b", "c", "d", "$"]]);
  });
  test("history thrown away: the rows themselves tell how far it has scrolled", () => {
    expect(newLines(capture(["two", "$ ls", "a", "$"], { historyLines: 1 }))).toEqual([["$ ls", "a", "$"]]);
  });
  test("a screen without history that scrolls", () => {
    const beginning = capture(["one", "two", "$", ""]);
    expect(newLines(capture(["two", "$ ls", "a", "$"]), "", beginning)).toEqual([["$ ls", "a", "$"]]);
  });
  test.each(["\u001b[H\u001b[J", "\u001b[2J", "\u001bc"])("all of a screen that was cleared by %j", (since) => {
    expect(newLines(capture(["one", "two", "$", ""], { historyLines: 10 }), since)).toEqual([["one", "two", "$"]]);
  });
  test("all of an alternate screen that was opened", () => {
    expect(newLines(capture(["one", "", "", ""], { historyLines: 10, alternateScreen: true }))).toEqual([["one"]]);
  });
  test("of the screen that an alternate one gives back, the cursor's row alone", () => {
    const beginning = capture(["menu", "", "", ""], { alternateScreen: true });
    expect(newLines(capture(["one", "two", "$", "x"]), "", beginning)).toEqual([["$"]]);
  });
  test("a change of size is told", () => {
    const beginning = new ScreenBeginning(BEGINNING);
    expect(beginning.isOfAnotherSize(capture([], { cols: 21 }))).toBe(true);
    expect(beginning.isOfAnotherSize(capture([], { rows: 5 }))).toBe(true);
    expect(beginning.isOfAnotherSize(capture([]))).toBe(false);
  });
});

describe("rows that tmux wrapped", () => {
  test.each([
    ["none", ["ab", "cd"], ["ab", "cd"], [false, false]],
    ["one over two", ["abcd", "ef", "g"], ["abcdef", "g"], [true, false, false]],
    ["with a blank lost at the edge", ["abc", "def"], ["abc def"], [true, false]],
    ["with a blank at the start of the next", ["abcd", " ef"], ["abcd ef"], [true, false]],
    ["over three", ["abcd", "efgh", "i"], ["abcdefghi"], [true, true, false]],
  ])("%s", (_name, rows, joined, wraps) => {
    expect(wrapsOf(rows, joined).map(Boolean)).toEqual(wraps);
  });
  test("two captures that do not agree tell nothing", () => {
    expect(wrapsOf(["ab", "cd"], ["abx", "cd"])).toEqual([]);
    expect(wrapsOf(["ab", "cd"], ["ab"])).toEqual([]);
  });
  test("are one line", () => {
    const now = capture(["one", "two", "$ 0123456789012345678", "tail"], { historyLines: 10 });
    const lines = new ScreenBeginning(BEGINNING).newStretches(now, "", [false, false, true, false]);
    expect(lines).toEqual([["$ 0123456789012345678tail"]]);
  });
  test("reach the edge", () => {
    expect([mayWrap("x".repeat(20), 20), mayWrap("x".repeat(18), 20), mayWrap("日".repeat(10), 20)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe("lines that show what was typed", () => {
  const at = (typed: string, line: string, prompt = "$ "): number | undefined =>
    new ScreenEcho(Buffer.from(typed), prompt).echoAt(line);
  test.each([
    ["behind a prompt", "ls\r", "$ ls", 2],
    ["at the start", "ls\r", "ls", 0],
    ["behind letters it is output", "ls\r", "tools", undefined],
    ["with other text behind, at the prompt where typing began", "ls\r", "$ ls -la suggested", 2],
    ["with other text behind, elsewhere", "ls\r", "% ls -la", undefined],
    ["any line of several", "one\rtwo\r", "> two", 2],
    ["however long", `${"x y ".repeat(40)}z\r`, `$ ${"x y ".repeat(40)}z`, 2],
    ["whatever its blanks", "a\tb\r", "$ a       b", 2],
    ["wide characters count as one", "日本\r", "é$ 日本", 3],
    ["a TAB by itself is no line", "\t", "$ needle", undefined],
    ["nothing like it", "ls\r", "total 4", undefined],
  ])("%s", (_name, typed, line, where) => {
    expect(at(typed, line)).toBe(where);
  });
  test("thousands of lines are looked up, not tried one by one", () => {
    const echo = new ScreenEcho(
      Buffer.from(Array.from({ length: 20_000 }, (_, n) => `line number ${n}`).join("\r")),
      "",
    );
    const startedMs = performance.now();
    for (let row = 0; row < 1_000; row += 1) expect(echo.echoAt(`output of row ${row}.`)).toBeUndefined();
    expect(performance.now() - startedMs).toBeLessThan(20_000);
    expect(echo.echoAt("> line number 19999")).toBe(2);
  });
});

test("what is found on the screen is cut in the result", async () => {
  const latch = new Latch(
    () => undefined,
    () => undefined,
    () => undefined,
  );
  const watch = new ScreenWatch({
    view: { capture: async () => BEGINNING },
    patterns: [new LiteralWatch(latch, Buffer.from("abababab"), 0, 4)],
    typed: undefined,
    maxMatchBytes: 4,
  });
  await new Promise<void>((resolve) => watch.begin(resolve));
  watch.judge(capture(["one", "two", "$ abababab", ""], { historyLines: 10 }), "", []);
  expect(latch.match).toEqual({ text: "abab", on: "screen" });
});
