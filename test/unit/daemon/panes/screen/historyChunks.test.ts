/** History that is captured in chunks is that of one moment, whatever happens between two of them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HistoryPainter } from "../../../../../daemon/panes/screen/historyPaint.ts";
import { mostScrolledRows } from "../../../../../daemon/panes/screen/scrolledRows.ts";
import { takeSnapshot } from "../../../../../daemon/panes/screen/snapshot.ts";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";
import { FakeHistory } from "../../../../support/tmux/fakeHistory.ts";

const filled = (count: number, options = {}, wrapped = (_at: number): boolean => false): FakeHistory => {
  const history = new FakeHistory(options);
  for (let at = 0; at < count; at += 1) history.print({ text: `row ${at}`, goesOn: wrapped(at) });
  return history;
};
/** The lines that a snapshot prints above its screen. */
const painted = (data: Uint8Array): readonly string[] => {
  const text = Buffer.from(data).toString();
  const begin = text.indexOf("\u001b)0") + 3;
  const lines = text
    .slice(begin, text.indexOf("\u000f\u001b[4;1H"))
    .replaceAll("\u001b[0m", "")
    .replaceAll("\u000f", "")
    .split("\r\n");
  return lines.slice(0, -1);
};
const CHUNKS = { historyLines: 100 };
/** Cells and joined rows of two screens, what is unfinished, and the newest history. */
const FIRST = 6;
const lotsOf = ({ commands }: FakeHistory) => commands.filter((command) => command.includes("-J -S")).length;

test("what is asked for in chunks is what one capture has", async () => {
  const random = fc.record({
    count: fc.integer({ min: 4, max: 180 }),
    chunkRows: fc.integer({ min: 1, max: 60 }),
    wraps: fc.array(fc.boolean(), { minLength: 180, maxLength: 180 }),
  });
  await fc.assert(
    fc.asyncProperty(random, async ({ count, chunkRows, wraps }) => {
      const history = filled(count, {}, (at) => wraps[at]!);
      const { data, exact } = await takeSnapshot(history.context(), CHUNKS, chunkRows);
      expect(exact).toBe(true);
      expect(painted(data)).toEqual(history.historyRows === 0 ? [] : history.lines(100));
    }),
  );
});

test("a row that scrolls away meanwhile is none of the snapshot's, wherever it comes between", async () => {
  for (let at = FIRST; at < FIRST + 16; at += 1) {
    const history = filled(104, {}, (row) => row % 2 === 0);
    const wanted = history.lines(100);
    const { outputSeq } = history.stream;
    history.before.set(at, () => history.print({ text: "later", goesOn: false }));
    const { data, position } = await takeSnapshot(history.context(), CHUNKS, 20);
    expect([painted(data), position.outputSeq]).toEqual([wanted, outputSeq]);
  }
});

describe("the history is captured whole with the screen", () => {
  test("when rows are dropped meanwhile", async () => {
    const history = filled(54, { limit: 50 });
    history.before.set(FIRST + 2, () => history.print({ text: "last", goesOn: false }));
    const { data } = await takeSnapshot(history.context(), CHUNKS, 20);
    expect(painted(data)).toEqual(history.lines(100));
    expect(history.historyRows).toBe(46);
    expect(history.commands.at(-1)).toContain("-S -100 -E -1");
  });

  test("when rows are dropped and as many come", async () => {
    const history = filled(54, { limit: 50 });
    const before = history.historyRows;
    history.before.set(FIRST + 2, () => {
      for (let at = 0; at < 5; at += 1) history.print({ text: `new ${at}`, goesOn: false });
    });
    const { data } = await takeSnapshot(history.context(), CHUNKS, 20);
    expect(history.historyRows).toBe(before);
    expect(painted(data)).toEqual(history.lines(100));
  });

  test("when it is cleared, and as much comes again", async () => {
    const history = filled(30);
    history.before.set(FIRST + 2, () => {
      history.rows = [];
      history.stream.take(Buffer.from("\u001b[3J"));
      for (let at = 0; at < 30; at += 1) history.print({ text: `new ${at}`, goesOn: false });
    });
    const { data } = await takeSnapshot(history.context(), CHUNKS, 10);
    expect(painted(data)).toEqual(history.lines(100));
  });

  test("when output does not pause for a chunk", async () => {
    const history = filled(104);
    for (let at = FIRST; at < 200; at += 1) history.before.set(at, () => history.print({ text: "on", goesOn: false }));
    const { data } = await takeSnapshot(history.context(), CHUNKS, 20);
    expect(painted(data)).toHaveLength(100);
    expect(history.commands.at(-1)).toContain("-S -100 -E -1");
    // The screen, 21 chunks with what is behind each, and 19 tries at all of it at once.
    expect(lotsOf(history)).toBe(1 + 2 * 21 + 19);
  });

  test("when the pane's width changes, at either of a chunk's two moments", async () => {
    for (const at of [FIRST, FIRST + 1, FIRST + 3]) {
      const history = filled(54);
      history.before.set(at, () => (history.cols = 30));
      await takeSnapshot(history.context(), CHUNKS, 20);
      expect(history.commands.at(-1)).toContain("-S -100 -E -1");
    }
  });
});

test("lines keep their pens, within a piece and over its seam", () => {
  const painter = new HistoryPainter();
  painter.add(["plain", "\u001b[31mred", "still", "\u001b[0mback", "cut"], true, { cols: 20, tabs: undefined });
  painter.add([" here", "new"], false, { cols: 20, tabs: undefined });
  expect(painter.text).toBe(
    "plain\r\n\u001b[31mred\u001b[0m\r\n\u001b[0;31mstill\u001b[0m\r\n\u001b[0;31m\u001b[0mback\u001b[0m\r\n\u000f" +
      "cut\u001b[0m\u000f here\u001b[0m\r\nnew\r\n\u000f",
  );
});

test("a short history costs no chunk of its own", async () => {
  const history = filled(24);
  await takeSnapshot(history.context(), CHUNKS, 20);
  expect(lotsOf(history)).toBe(1);
});

describe("how many rows output can have moved at most", () => {
  const most = (text: string, retainBytes = 1_024, to = text.length): number | undefined => {
    const stream = new PaneStream({ id: "%1", epoch: "e", retainBytes, onListenerError: () => undefined });
    for (let at = 0; at < text.length; at += 1_000) stream.take(Buffer.from(text.slice(at, at + 1_000)));
    return mostScrolledRows(stream, { from: 0, to }, { cols: 11, rows: 5 });
  };

  test.each([
    ["", 0],
    ["text", 5 + 1],
    ["\n\n\v\f\t", 5 + 5],
    ["a".repeat(100), 5 + 10],
    ["\u001b[1;31m\u001b[K\u001b[?25l\u001b[?2026h", 5],
    ["\u001b[5;11H", 5 + 1],
    ["\u001b[99S", 5 + 5],
    ["\u001b[2J", 5 + 5],
    ["\u001b[?3h", 5 + 5],
    ["\u001bD\u001bc", 5 + 10],
    ["\u001b(B\u001b]0;title\u0007", 5],
    ["\u001b[1\n;2H", 5 + 2],
    ["\r\b\u0007\u001b[?25n", 5 + 5],
    [" ".repeat(100), 5 + 10],
  ])("%j", (text, rows) => {
    expect([most(text), most(`${text}\n`, 1_024, text.length)]).toEqual([rows, rows]);
  });

  test("is not known of a picture, or of what is not retained", () => {
    expect(most("\u001bPq#0~\u001b\\")).toBeUndefined();
    expect(most("x".repeat(1_000_000), 1_024)).toBeUndefined();
  });
});
