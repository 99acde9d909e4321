/** Whether a screen shows what was typed: wrapped, framed, scrolled, said before, or behind a placeholder. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";
import {
  changedRows,
  drawnSince,
  echoProbe,
  findEcho,
  findShown,
  isContinued,
  isInHistory,
  isShown,
  isStillAt,
  relocate,
  type Screen,
} from "../../../../../daemon/delivery/screen/promptEcho.ts";

const PLACEHOLDERS = [/\[Pasted text #\d+(?: \+\d+ lines)?\]/u];
const screen = (lines: readonly string[], row = lines.length - 1, col = 2): Screen => ({ lines, cursor: { col, row } });
const seen = (text: string, before: readonly string[], after: readonly string[]) =>
  findEcho(echoProbe(text, PLACEHOLDERS), screen(before), screen(after));

const RULE = "─".repeat(20);
const EMPTY = ["> earlier", "● done", RULE, "❯ ", RULE, "  ? for shortcuts"];
const box = (...rows: readonly string[]): string[] => [...EMPTY.slice(0, 3), ...rows, RULE, "  ? for shortcuts"];

describe("a text is seen", () => {
  test.each<[string, string, readonly string[]]>([
    ["in the box", "fix it", box("❯ fix it")],
    ["of one letter", "y", box("❯ y")],
    ["behind half a word of somebody else", "fix it", box("❯ I wanfix it")],
    ["before somebody's next letter", "fix it", box("❯ fix it!")],
    ["wrapped and set in", "please fix the failing test", box("❯ please fix", "  the failing", "  test")],
    ["in a frame", "please fix the failing test", box("│ please fix the   │", "│ failing test     │")],
    ["with marks of continuation", "one line of it\nthe second one", box("❯ one line of it", "... the second one")],
    [
      "by its end, when the box shows no more",
      `${"x y ".repeat(90)}the very end of it`,
      box("❯ x y x y x y x y x y", "  the very end of it"),
    ],
    ["without what the terminal made of an emoji", "naïve 漢字 👩‍👩‍👧 é", box("❯ naïve 漢字 👩")],
    ["with a skin tone", "good 👍🏽", box("❯ good 👍")],
    ["composed otherwise", "cafe\u0301 ole", box("❯ caf\u00e9 ole")],
    ["of frame characters", "│ ─", box("❯ │ ─")],
    ["behind a placeholder", "a\nb\nc\nd\ne\nf\ng", box("❯ [Pasted text #1 +6 lines]")],
  ])("%s", (_how, text, after) => {
    expect(seen(text, EMPTY, after)).toBeDefined();
  });

  test("although it stood there before, and has scrolled away at the top", () => {
    const before = ["> continue", "● one", "> continue", "● two", RULE, "❯ ", RULE];
    expect(seen("continue", before, [...before.slice(0, 5), "❯ continue", RULE])).toMatchObject({ row: 5 });
    const scrolled = ["● one", "> continue", "● two", RULE, "❯ continue", RULE];
    expect(seen("continue", before, scrolled)).toMatchObject({ row: 4 });
  });

  test("of which a person has typed the beginning", () => {
    const before = box("❯ please fix");
    const after = box("❯ please fix", "  the failing test");
    expect(seen("please fix the failing test", before, after)).toMatchObject({ row: 4 });
  });

  test("behind a second placeholder, not behind the one that was there", () => {
    const text = "a\nb\nc\nd\ne\nf\ng";
    const before = box("❯ [Pasted text #1 +6 lines]");
    expect(seen(text, before, before)).toBeUndefined();
    expect(seen(text, before, box("❯ [Pasted text #1 +6 lines][Pasted text #2 +6 lines]"))).toBeDefined();
  });
});

describe("a text is not seen", () => {
  test.each<[string, string, readonly string[], readonly string[]]>([
    ["when nothing changed", "fix it", EMPTY, EMPTY],
    ["when it stood there before", "earlier", EMPTY, EMPTY],
    ["when something else changed", "earlier", EMPTY, [...EMPTY.slice(0, 5), "  press up to edit"]],
    ["when only its beginning is there", "please fix the failing test", EMPTY, box("❯ please fix the")],
    ["when it went up with the screen", "earlier", ["x", "> earlier", RULE], ["> earlier", RULE, "y"]],
  ])("%s", (_how, text, before, after) => {
    expect(seen(text, before, after)).toBeUndefined();
  });
});

describe("a text is still there", () => {
  const probe = echoProbe("fix it", []);
  const shown = screen(box("❯ fix it"), 3, 8);
  const place = relocate(probe, findEcho(probe, screen(EMPTY), shown)!, shown)!;

  test("wherever the box has gone", () => {
    expect(isStillAt(probe, place, shown)).toBe(true);
    expect(isStillAt(probe, place, screen(["● more", ...box("❯ fix it")], 4, 8))).toBe(true);
  });

  test("not when the cursor left it, or the row says something else", () => {
    expect(isStillAt(probe, place, screen(box("❯ fix it"), 3, 2))).toBe(false);
    expect(isStillAt(probe, place, screen(["> fix it", ...box("❯ ")], 4, 8))).toBe(false);
  });
});

test.each<[string, string, readonly string[], string, string]>([
  [
    "the last line, without what is empty behind it",
    "one line\nthe last line of it  \n\n",
    ["thelastlineofit", "onelinethelastlineofit"],
    "oneline",
    "onelinethelastlineofit",
  ],
  ["a last line of eight letters", "x y z\n12345678", ["12345678", "xyz12345678"], "xyz", "xyz12345678"],
  [
    "all of it where the last line is shorter, and that line",
    "x y z\n1234567",
    ["xyz1234567", "1234567"],
    "xyz",
    "xyz1234567",
  ],
  ["a last line of three letters", "hello there\nyes", ["hellothereyes", "yes"], "hellothere", "hellothereyes"],
  ["none of two", "hello there\nok", ["hellothereok"], "hellothere", "hellothereok"],
  ["what stands behind an emoji", "good 👍 work it", ["good👍workit", "workit"], "good👍workit", "good👍workit"],
  [
    "what stands before one where too little is behind it",
    "good 👍 abc",
    ["good👍abc", "good"],
    "good👍abc",
    "good👍abc",
  ],
  ["the last 24 letters", "ab".repeat(20), ["ab".repeat(12)], "ab".repeat(12), "ab".repeat(20)],
  [
    "a text that is set in",
    "  first line\n  second line",
    ["secondline", "firstlinesecondline"],
    "firstline",
    "firstlinesecondline",
  ],
  ["one letter", "y", ["y"], "y", "y"],
])("what is looked for: %s", (_what, text, needles, head, start) => {
  expect(echoProbe(text, [])).toMatchObject({ needles, head, start });
});

test("of a long text, no more than its end and its beginning", () => {
  const { end, start } = echoProbe(`${"a".repeat(3_000)}${"b".repeat(3_000)}`, []);
  expect([end, start]).toEqual(["b".repeat(2_048), "a".repeat(2_048)]);
});

test("the rows that did not change are as many as two screens can have in common, in their order", () => {
  const rows = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 7 });
  const common = (one: readonly string[], other: readonly string[]): number => {
    const [first, ...rest] = one;
    if (first === undefined || other.length === 0) return 0;
    const at = other.indexOf(first);
    return Math.max(common(rest, other), at < 0 ? 0 : 1 + common(rest, other.slice(at + 1)));
  };
  fc.assert(
    fc.property(rows, rows, (before, after) => {
      const changed = changedRows(before, after);
      const kept = after.filter((_row, at) => !changed.after.includes(at));
      expect(kept).toHaveLength(common(before, after));
      const stayed = before.filter((_row, at) => !changed.before.includes(at));
      // Those that have gone over the edge stand before them.
      expect(stayed.slice(stayed.length - kept.length)).toEqual(kept);
    }),
  );
});

test("rows that changed are those outside of the longest common sequence", () => {
  expect(changedRows(["a", "b", "c"], ["z", "b", "x", "c"])).toEqual({ before: [0], after: [0, 2] });
  // What has gone over the edge was not drawn over.
  expect(changedRows(["a", "b", "c"], ["b", "x", "c"])).toEqual({ before: [], after: [1] });
  expect(changedRows(["a", "b", "c", "d"], ["b", "x"])).toEqual({ before: [2, 3], after: [1] });
  expect(changedRows([], ["a"])).toEqual({ before: [], after: [0] });
  expect(changedRows(["a", "b", "x"], ["a", "b", "y"])).toEqual({ before: [2], after: [2] });
});

describe("above the box, where the box begins at its rule", () => {
  const above = (...rows: readonly string[]): readonly [Screen, number] => [
    screen([...rows, RULE, "❯ ", RULE]),
    rows.length,
  ];

  test.each<[string, string, readonly string[], readonly string[], boolean]>([
    ["the text", "fix the test", [], ["> fix the test"], true],
    ["the text that stood there before", "fix the test", ["> fix the test"], ["> fix the test", "● more"], false],
    ["the text once more", "fix the test", ["> fix the test"], ["> fix the test", "● done", "> fix the test"], true],
    ["the beginning of one that is folded", "first line of it\nand the second one", [], ["> first line of it …"], true],
    ["a word alone behind a mark", "y", [], ["> y"], true],
    ["a word alone", "yes", [], ["yes"], true],
    ["a short word among others", "yes", [], ["● yes or no"], false],
    ["a short word behind another", "y", [], ["> my"], false],
    ["nothing new", "yes", ["> yes"], ["> yes"], false],
  ])("%s shows what was taken or does not", (_what, text, before, after, shows) => {
    expect(isInHistory(echoProbe(text, []), above(...before), above(...after))).toBe(shows);
  });

  test("what stands in the box was not taken, and nobody has typed behind it there", () => {
    const inBox: readonly [Screen, number] = [screen([RULE, "❯ fix the test now", RULE]), 0];
    const probe = echoProbe("fix the test", []);
    const place = { row: 0, text: "", cursor: { col: 0, row: 0 }, needle: probe.needles[0]! };
    expect(isInHistory(probe, above(), inBox)).toBe(false);
    expect(isContinued(probe, place, above(), inBox)).toBeUndefined();
    expect(isInHistory(probe, inBox, above("> fix the test"))).toBe(true);
  });

  const LONG = "please fix the failing tests";
  test.each<[string, string, string, boolean]>([
    ["a letter behind it", "fix the test", "> fix the test!", true],
    ["nothing behind it", "fix the test", "> fix the test", false],
    ["a word before it, which may be the program's", "fix the test", "ran: fix the test now", false],
    ["a mark before it", "fix the test", "› fix the test now", true],
    ["two marks before it", "fix the test", "›› fix the test now", true],
    ["nothing before it", "fix the test", "fix the test now", true],
    ["a row of marks", "fix the test", "………………………………", false],
    [
      "a text that ends as it begins, of which the row shows the beginning",
      `${LONG}, then ${LONG}`,
      `> ${LONG}, then`,
      false,
    ],
    ["the same, with a letter behind", `${LONG}, then ${LONG}`, `> ${LONG}!`, true],
    ["a text that contains its own end", "run it, then do not run it", "> run it, then do not run", false],
    ["its own row of several", "the first line\nthe first line", "> the first line", false],
    ["no more than the text's own beginning", "aaaaaaaa aaaaaaaa", "> aaaaaaaa aaaaaa", false],
  ])("somebody's text behind it is seen: %s", (_what, text, row, goesOn) => {
    const probe = echoProbe(text, []);
    const place = { row: 0, text: "", cursor: { col: 0, row: 0 }, needle: probe.needles[0]! };
    expect(isContinued(probe, place, above(), above(row))).toBe(goesOn ? row : undefined);
    expect(isContinued(probe, place, above(row), above(row))).toBeUndefined();
  });

  test("a word that stands for a paste says nothing of what follows", () => {
    const probe = echoProbe("a\nb\nc\nd\ne\nf\ng", PLACEHOLDERS);
    const place = { row: 0, text: "", cursor: { col: 0, row: 0 }, needle: "[Pastedtext#1+6lines]" };
    expect(isContinued(probe, place, above(), above("> [Pasted text #1 +6 lines] now"))).toBeUndefined();
  });
});

describe("wherever it stands", () => {
  test.each<[string, string, readonly string[], number | undefined]>([
    ["the last row that has it counts", "fix the test", ["> fix the test", "● x", "> fix the test", "● y"], 2],
    ["the row in which it ends", "please fix the failing test", ["> please fix", "  the failing test", "● y"], 1],
    ["a screen without it", "fix the test", ["> fix"], undefined],
    ["a word of two letters, which is met by chance", "ok", ["> ok"], undefined],
    ["a word of three", "yes", ["> yes"], 0],
  ])("%s", (_what, text, lines, row) => {
    expect(findShown(echoProbe(text, []), screen(lines))?.row).toBe(row);
  });

  test("rows are joined, and frames do not count unless the text is one", () => {
    const place = { row: 0, text: "", cursor: { col: 0, row: 0 }, needle: "fixthetest" };
    expect(isShown(echoProbe("fix the test", []), place, ["│ fix the │", "│ test │"])).toBe(true);
    expect(isShown(echoProbe("│", []), { ...place, needle: "│" }, ["│"])).toBe(true);
  });
});

test.each<[string, string, number, boolean]>([
  ["again, with sequences in it", "\u001b[1mfix \u001b[0mthe test", 0, true],
  ["before that", "fix the test", 12, false],
  ["not at all", "something else", 0, false],
])("a text that was drawn %s", (_what, output, from, isDrawn) => {
  const stream = new PaneStream({ id: "%1", epoch: "e", retainBytes: 1_000, onListenerError: () => undefined });
  stream.take(Buffer.from(output));
  expect(drawnSince(stream, from, echoProbe("fix the test", []))).toBe(isDrawn);
  stream.declareHole("paused");
  expect(drawnSince(stream, from, echoProbe("fix the test", []))).toBe(isDrawn);
});
