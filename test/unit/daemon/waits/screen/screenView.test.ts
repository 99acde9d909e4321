/** Which rows of a screen count as new, on captures made by hand: what only rare moments of a real pane would show. */
import { describe, expect, test } from "vitest";
import type { Capture } from "../../../../../daemon/tmux/io.ts";
import { mayWrap, ScreenBeginning, wrapsOf } from "../../../../../daemon/waits/screen/screenView.ts";
import { ScreenEcho, ScreenWatch } from "../../../../../daemon/waits/screen/screenWatch.ts";
import { type CompiledRegex, MAX_JOB_BYTES, type RegexOutcome } from "../../../../../daemon/waits/regex/regexEngine.ts";
import { Latch, LiteralWatch, RegexWatch } from "../../../../../daemon/waits/text/textWatch.ts";

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
  test("with other text behind, where there was no prompt, is output", () => {
    expect(at("ls\r", "ls -la", "")).toBeUndefined();
  });
  test.each([
    ["behind a prompt", "ls\r", "$ ls", 2],
    ["at the start", "ls\r", "ls", 0],
    ["behind letters it is output", "ls\r", "tools", undefined],
    ["behind one letter it is output", "ls\r", "als", undefined],
    [
      "each of two that end alike",
      "one of the same endings\rtwo of the same endings\r",
      "> one of the same endings",
      2,
    ],
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

interface Eye {
  readonly latch: Latch;
  readonly watch: ScreenWatch;
  /** What RE2 was given, and from which character on it is to search; each is answered when the test says so. */
  readonly asked: { readonly text: string; readonly skip: number; readonly done: (outcome: RegexOutcome) => void }[];
}

/** Began at `BEGINNING`, where the pattern is `literal` or any regex. */
async function eye({ literal, typed }: { literal?: string; typed?: string }): Promise<Eye> {
  const asked: Eye["asked"] = [];
  const latch = new Latch(
    () => undefined,
    () => undefined,
    () => undefined,
  );
  const run: CompiledRegex["run"] = (text, skip, done) =>
    void asked.push({ text: Buffer.from(text).toString("utf8"), skip, done });
  const watch = new ScreenWatch({
    view: { capture: async () => BEGINNING },
    patterns: [
      literal === undefined
        ? new RegexWatch(latch, { run } as CompiledRegex, 0)
        : new LiteralWatch(latch, Buffer.from(literal), 0, 4),
    ],
    typed: typed === undefined ? undefined : Buffer.from(typed),
    maxMatchBytes: 4,
  });
  await new Promise<void>((resolve) => watch.begin(resolve));
  return { latch, watch, asked };
}

const look = (watch: ScreenWatch, lines: readonly string[]): void =>
  watch.judge(capture(lines, { historyLines: 10 + lines.length - 4 }), "", []);

test("what is found on the screen is cut in the result", async () => {
  const { latch, watch } = await eye({ literal: "abababab" });
  look(watch, ["one", "two", "$ abababab", ""]);
  expect(latch.match).toEqual({ text: "abab", on: "screen" });
});

test.each([
  [MAX_JOB_BYTES / 4 - 1, 4],
  [MAX_JOB_BYTES / 4, 3],
])("many new rows go to RE2 in pieces of a bounded size, cut between lines: rows of %i bytes", async (bytes, fit) => {
  const { watch, asked } = await eye({});
  const row = "x".repeat(bytes);
  look(watch, ["one", "two", ...Array.from({ length: fit + 1 }, () => row)]);
  expect(asked.map(({ text }) => text)).toEqual([Array.from({ length: fit }, () => row).join("\n"), row]);
});

test("output before and after the echo is tried, and the echo by itself", async () => {
  const { watch, asked } = await eye({ typed: "ls" });
  look(watch, ["a", "b", "$ ls", "c"]);
  expect(asked.map(({ text }) => text)).toEqual(["a\nb", "c", "$ ls"]);
});

test("a match that holds the prompt and what was typed is the echo's", async () => {
  const { latch, watch } = await eye({ literal: "$ ls", typed: "ls" });
  look(watch, ["one", "two", "$ ls", ""]);
  expect([latch.match, watch.hasEchoMatched]).toEqual([undefined, true]);
});

test("what a shell's editor draws is no output, and the echo in it is noted", async () => {
  const { latch, watch } = await eye({ literal: "ls", typed: "ls" });
  watch.echo = { isEditing: true };
  look(watch, ["one", "two", "$ ls", "ls, a suggestion"]);
  expect([latch.match, watch.hasEchoMatched]).toEqual([undefined, true]);
  watch.echo = { isEditing: false };
  look(watch, ["one", "two", "$ ls", "ls, a list"]);
  expect(latch.match).toEqual({ text: "ls", on: "screen" });
});

test("a pattern that was found is not looked for, neither in the output nor in the echo", async () => {
  const { latch, watch, asked } = await eye({ typed: "ls" });
  latch.found({ text: "ls", from: 0, to: 2 });
  look(watch, ["one", "two", "$ ls", "ls, a list"]);
  expect(asked).toEqual([]);
});

test("of many lines that show the echo the newest few are tried, and all are judged before the end", async () => {
  const { watch, asked } = await eye({ typed: "ls" });
  look(watch, ["one", "two", ...Array.from({ length: 20 }, (_, row) => `${row}$ ls`)]);
  expect(asked.map(({ text, skip }) => [text, skip])).toEqual(
    Array.from({ length: 8 }, (_, row) => [`${row + 12}$ ls`, 0]),
  );
  let judged = 0;
  watch.whenJudged(() => (judged += 1));
  const [first, ...others] = asked.splice(0);
  // It has the prompt, which nobody typed: what was typed is tried by itself.
  first!.done({ kind: "match", index: 0, text: "12$ " });
  for (const { done } of others) done({ kind: "none" });
  expect([judged, asked.map(({ skip }) => skip), watch.hasEchoMatched]).toEqual([0, [4], false]);
  asked[0]!.done({ kind: "match", index: 4, text: "l" });
  expect([judged, watch.hasEchoMatched]).toEqual([1, true]);
  look(watch, ["one", "two", "20$ ls", ""]);
  expect(asked).toHaveLength(1);
});

test("what RE2 finds after the end is nobody's", async () => {
  const { latch, watch, asked } = await eye({});
  look(watch, ["one", "two", "$ a", ""]);
  watch.end();
  asked[0]!.done({ kind: "match", index: 2, text: "a" });
  expect(latch.match).toBeUndefined();
});
