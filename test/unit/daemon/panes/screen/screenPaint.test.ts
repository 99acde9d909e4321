/** What a capture cannot tell, read from output; and a screen as the bytes that draw it. */
import { describe, expect, test } from "vitest";
import { applySgr, DEFAULT_PEN } from "../../../../../daemon/panes/pen.ts";
import { paintScreen, type ScreenFlags, wrappedRows } from "../../../../../daemon/panes/screen/screenPaint.ts";
import { modesAt } from "../../../../../daemon/panes/vt/streamModes.ts";
import { MemorySource } from "../../../../support/daemon/memorySource.ts";

const ESC = "\u001b";
function modesOf(text: string) {
  const source = new MemorySource();
  source.write(Buffer.from(text, "latin1"));
  return modesAt(source, source.outputSeq);
}

describe("stream modes", () => {
  test.each([
    ["nothing", "", {}],
    ["a pen", `${ESC}[1mtext${ESC}[31m`, { pen: applySgr(DEFAULT_PEN, "1;31") }],
    ["a pen inside a title is none", `${ESC}]0;${ESC}\\${ESC}[1m`, { pen: applySgr(DEFAULT_PEN, "1") }],
    ["a title with a bell", `${ESC}]0;[1mx\u0007`, {}],
    ["nothing inside a device string", `${ESC}Pq${ESC}[1m\u0007${ESC}\\`, {}],
    ["bracketed paste and focus", `${ESC}[?2004;1004h`, { bracketedPaste: true, focusReports: true }],
    ["and off again", `${ESC}[?2004h${ESC}[?2004l`, {}],
    ["a private SGR is none", `${ESC}[>4;1m${ESC}[?1m`, {}],
    ["a cursor style", `${ESC}[5 q`, { cursorStyle: 5 }],
    ["character sets", `${ESC}(0${ESC})0\u000e`, { g0: "0", g1: "0", shifted: true }],
    ["and back", `${ESC}(0\u000e\u000f${ESC}(B`, {}],
    ["a pen saved and restored", `${ESC}[1m${ESC}7${ESC}[0;31m${ESC}8`, { pen: applySgr(DEFAULT_PEN, "1") }],
    ["by the other sequences too", `${ESC}[1m${ESC}[s${ESC}[0m${ESC}[u`, { pen: applySgr(DEFAULT_PEN, "1") }],
    ["a reset", `${ESC}[1m${ESC}[?2004h${ESC}(0${ESC}c`, {}],
    ["a reset, which forgets what was saved too", `${ESC}[1m${ESC}7${ESC}c${ESC}8`, {}],
    ["a reset, which leaves the cursor's style", `${ESC}[5 q${ESC}c`, { cursorStyle: 5 }],
    ["modes that are not read", `${ESC}[?7h${ESC}[?25h`, {}],
    ["no style in a question about the terminal", `${ESC}[>q${ESC}[>1 q`, {}],
    ["the usual style", `${ESC}[5 q${ESC}[ q`, {}],
    ["nothing saved or restored by other sequences", `${ESC}[1m${ESC}[?1s${ESC}[u`, {}],
    ["nor by those of a keyboard", `${ESC}[1m${ESC}[>1u${ESC}[<u`, { pen: applySgr(DEFAULT_PEN, "1") }],
    ["nor by other escapes", `${ESC}[1m${ESC}#8${ESC}=${ESC}M${ESC}*B`, { pen: applySgr(DEFAULT_PEN, "1") }],
    ["sets that tmux does not know", `${ESC}(0${ESC}(A${ESC})0${ESC})U${ESC}*B`, { g0: "0", g1: "0" }],
    [
      "a shift inside a sequence, and no other control",
      `${ESC}[1\u000em\n`,
      { pen: applySgr(DEFAULT_PEN, "1"), shifted: true },
    ],
  ])("%s", (_name, output, wanted) => {
    expect(modesOf(output)).toEqual({ ...modesOf(""), ...wanted });
  });

  test("the alternate screen gives its pen back when it is left, and only then", () => {
    const entered = modesOf(`${ESC}[31m${ESC}[?1049h${ESC}[1m${ESC}[?1049h`);
    expect([entered.pen, entered.savedPen]).toEqual([applySgr(DEFAULT_PEN, "31;1"), applySgr(DEFAULT_PEN, "31")]);
    expect(modesOf(`${ESC}[31m${ESC}[?1049h${ESC}[1m${ESC}[?1049l`).pen).toEqual(applySgr(DEFAULT_PEN, "31"));
    expect(modesOf(`${ESC}[1m${ESC}[?1049l`).pen).toEqual(applySgr(DEFAULT_PEN, "1"));
    // tmux 3.3a: a reset leaves it, and a screen that was entered without the pen has none to give back.
    expect(modesOf(`${ESC}[31m${ESC}[?7;1049h${ESC}c${ESC}[?1049l`).pen).toEqual(applySgr(DEFAULT_PEN, "31"));
    for (const mode of [47, 1047]) {
      const { pen } = modesOf(`${ESC}[31m${ESC}[?${mode}h${ESC}[1m${ESC}[?1049h${ESC}[4m${ESC}[?1049l`);
      expect(pen).toEqual(applySgr(DEFAULT_PEN, "31;1;4"));
    }
  });
});

describe("wrapped rows", () => {
  test.each([
    [
      ["aaaa", "bb", "c"],
      ["aaaabb", "c"],
      [true, false, false],
    ],
    [
      ["aaaa", "bbbb", "c"],
      ["aaaa", "bbbb", "c"],
      [false, false, false],
    ],
    // A joined row that goes on below.
    [["aaaa"], ["aaaabb"], [false]],
    [["aaaa", "bbbb", "c"], ["aaaabbbbc"], [true, true, false]],
    [["\u001b[1maaaa", "\u000eqq\u000f"], ["aaaaqq"], [true, false]],
    // A wide character that did not fit.
    [
      ["aaa ", "日 ", "bbbb"],
      ["aaa日", "bbbb"],
      [true, false, false],
    ],
    [["日 ", "日 ", "b "], ["日日b"], [true, true, false]],
    // Rows that end early, with blanks behind them, and blanks that were written.
    [["ab  ", "  c ", "d   "], ["ab  cd"], [true, true, false]],
    [["ab  ", "  cd"], ["ab    cd"], [true, false]],
    // A row that was emptied after it had wrapped.
    [
      ["aaaa", "", "b"],
      ["aaaa", "b"],
      [false, true, false],
    ],
    [
      ["", "", "x"],
      ["", "", "x"],
      [false, false, false],
    ],
  ])("%j as %j", (rows, joined, wrapped) => {
    expect(wrappedRows({ rows, joined })).toEqual(wrapped);
  });
});

const FLAGS: ScreenFlags = {
  cols: 4,
  rows: 3,
  cursorCol: 1,
  cursorRow: 1,
  alternateScreen: false,
  savedCursor: undefined,
  regionTop: 0,
  regionBottom: 2,
  modes: [],
  applicationKeypad: false,
  originMode: false,
  cursorVisible: true,
  wraps: true,
  tabs: undefined,
};
const NOTHING = { rows: [], joined: [] };
const TAIL = `${ESC}(B${ESC})B\u000f${ESC}[0m`;

type Input = Parameters<typeof paintScreen>[0];

function paint(flags: Partial<ScreenFlags>, rows: string[] = [], pending = "", more: Partial<Input> = {}): string {
  // oxlint-disable-next-line no-control-regex -- an escape sequence, and shifts
  const shown = { rows, joined: rows.map((row) => row.replaceAll(/\u001b\[[0-9;]*m|[\u000e\u000f]/g, "")) };
  const painted = paintScreen({
    shown,
    saved: NOTHING,
    flags: { ...FLAGS, ...flags },
    stream: modesOf(""),
    pending: Buffer.from(pending),
    ...more,
  });
  return Buffer.from(painted).toString();
}

describe("painting", () => {
  const begin = `${ESC}c${ESC})0${ESC}[0m`;

  test("an empty screen is a reset and a cursor", () => {
    expect(paint({})).toBe(`${begin}${ESC}[2;2H${TAIL}`);
  });

  test("rows by their place, empty ones passed over", () => {
    expect(paint({}, ["ab", "", "c"])).toBe(`${begin}${ESC}[0m${ESC}[1;1Hab${ESC}[3;1Hc\u000f${ESC}[2;2H${TAIL}`);
  });

  test("a row goes on in the next only if it is full, and never beyond its last column", () => {
    const at = (row: number): string => `${ESC}[${row};1H`;
    const painted = (rows: string[], joined: string[]): string =>
      paint({}, [], "", { shown: { rows, joined } }).slice(
        `${begin}${ESC}[0m`.length,
        -`\u000f${ESC}[2;2H${TAIL}`.length,
      );
    expect(painted(["abcd", "e"], ["abcde"])).toBe(`${at(1)}abcde`);
    expect(painted(["a日 ", "日"], ["a日日"])).toBe(`${at(1)}a日 日`);
    expect(painted(["a日", "日"], ["a日日"])).toBe(`${at(1)}a日日`);
    expect(painted(["a日", "b"], ["a日b"])).toBe(`${at(1)}a日${at(2)}b`);
    expect(painted(["ab", "c"], ["abc"])).toBe(`${at(1)}ab${at(2)}c`);
    expect(painted([`日日${ESC}[44m ${ESC}[0m`, "c"], ["日日c"])).toBe(`${at(1)}日日${ESC}[44m${ESC}[0mc`);
  });

  test("a wrap that is to come is written again, with the pen of its row", () => {
    const rows = [`${ESC}[1m\u000fa\u000eq`, "wxyz", `${ESC}[31mz`];
    const row = `${ESC}[2;1H${ESC}[0;1m\u000ewxyz\u000f`;
    expect(paint({ cursorCol: 4 }, rows)).toBe(
      `${begin}${ESC}[0m${ESC}[1;1H${rows[0]}${ESC}[2;1Hwxyz${ESC}[3;1H${rows[2]}\u000f${row}${TAIL}`,
    );
  });

  test.each([
    [["aaaa", "bb", "c"], ["aaaabb", "c"], `${ESC}[1;1Haaaabb${ESC}[3;1Hc`],
    // Its first row was emptied after it had wrapped.
    [["", "bb", "c"], ["bb", "c"], `${ESC}[2;1Hbb${ESC}[3;1Hc`],
  ])("rows %j that are %j", (rows, joined, drawn) => {
    const painted = paint({}, [], "", { shown: { rows, joined } });
    expect(painted).toBe(`${begin}${ESC}[0m${drawn}\u000f${ESC}[2;2H${TAIL}`);
  });

  test("history, then the screen behind an alternate one with its pen and its cursor, then the modes of the stream", () => {
    const stream = modesOf(`${ESC}[31m${ESC}[?1049h${ESC}[?2004;1004h${ESC}[5 q`);
    const more = { stream, saved: { rows: ["ab"], joined: ["ab"] } };
    const end = `${ESC}[2;2H${ESC}[?2004h${ESC}[?1004h${ESC}[5 q${ESC}(B${ESC})B\u000f${ESC}[0;31m`;
    const alternate = { alternateScreen: true, savedCursor: { row: 1, col: 2 } };
    expect(paint(alternate, [], "", { ...more, history: { rows: 9, text: "old\r\n" } })).toBe(
      `${ESC}c${ESC})0old\r\n\u000f${ESC}[3;1H\n\n${ESC}[1;1H${ESC}[0m${ESC}[1;1Hab\u000f${ESC}[0;31m${ESC}[2;3H${ESC}[?1049h${ESC}[0m${end}`,
    );
    expect(paint({ alternateScreen: true }, [], "", { saved: more.saved, history: { rows: 1, text: "" } })).toBe(
      `${ESC}c${ESC})0\u000f${ESC}[3;1H\n${ESC}[1;1H${ESC}[0m${ESC}[1;1Hab\u000f${ESC}[0m${ESC}[?47h${ESC}[0m${ESC}[2;2H${TAIL}`,
    );
  });

  test("a region from the first row", () => {
    expect(paint({ regionBottom: 1 })).toBe(`${begin}${ESC}[1;2r${ESC}[2;2H${TAIL}`);
  });

  test("region, origin and cursor in this order, then modes, then what is unfinished", () => {
    const flags = {
      regionTop: 1,
      regionBottom: 2,
      originMode: true,
      modes: ["4", "?1006"],
      wraps: false,
      cursorVisible: false,
      applicationKeypad: true,
      tabs: [1, 3],
    };
    expect(paint(flags, [], `${ESC}[3`)).toBe(
      `${begin}${ESC}[3g${ESC}[2G${ESC}H${ESC}[4G${ESC}H${ESC}[2;3r${ESC}[?6h${ESC}[1;2H` +
        `${ESC}[4h${ESC}[?1006h${ESC}[?7l${ESC}[?25l${ESC}=${TAIL}${ESC}[3`,
    );
  });
});
