/** One reading of a source for all who ask what its output has set, or listen to what it says. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamMark } from "../../../../../daemon/panes/vt/streamMarks.ts";
import { scanMarks } from "../../../../../daemon/panes/vt/streamMarks.ts";
import { trackerOf } from "../../../../../daemon/panes/vt/vtTracker.ts";
import { MemorySource } from "../../../../support/daemon/memorySource.ts";
import { cutAt, cuts } from "../../../protocol/text/cuts.ts";

test("is one per source, reads when it is asked, and listens to nothing by itself", () => {
  const source = new MemorySource();
  source.write("\u001b[?2004h$ ");
  expect(trackerOf(source)).toBe(trackerOf(source));
  expect(source.listeners).toBe(0);
  expect(trackerOf(source).bracketedPaste).toBeUndefined();
  expect(trackerOf(source)).toMatchObject({ bracketedPasteSeq: -1, promptMarkSeq: -1, lineFeedSeq: -1 });
  expect(trackerOf(source).readOn()).toMatchObject({ bracketedPaste: true, bracketedPasteSeq: 8 });
  source.write("ls\r\n\u001b[?2004l\u001b]133;C\u0007");
  expect(trackerOf(source).readOn()).toMatchObject({ bracketedPaste: false, shellMark: "command", lineFeedSeq: 14 });
  source.write("\u001b]133;A\u0007");
  expect(trackerOf(source).readOn()).toMatchObject({ shellMark: "prompt", promptMarkSeq: 30, lineFeedSeq: 14 });
  source.write("\n\u001b]133;D\u0007\u001b]2;title\u0007");
  expect(trackerOf(source).readOn()).toMatchObject({ shellMark: "done", promptMarkSeq: 30, lineFeedSeq: 39 });
  expect(source.listeners).toBe(0);
});

test("what has left the ring unread, or fell into a hole, is not known; what was read before it left is", () => {
  const late = new MemorySource({ ringBytes: 64 });
  for (let count = 0; count < 4; count++) late.write("x".repeat(60));
  expect(trackerOf(late).lineFeedSeq).toBe(late.tailSeq);
  const source = new MemorySource({ ringBytes: 64 });
  source.write("\u001b[?2004h");
  trackerOf(source).readOn();
  for (let count = 0; count < 4; count++) {
    source.write("x".repeat(40));
    expect(trackerOf(source).readOn().bracketedPaste).toBe(true);
  }
  source.write("x".repeat(60));
  source.write("x".repeat(60));
  source.write("x".repeat(60));
  expect(trackerOf(source).readOn().bracketedPaste).toBeUndefined();
  source.write("\u001b[?2004h\u001b[?20");
  source.gap(5);
  source.write("04l");
  expect(trackerOf(source).readOn()).toMatchObject({ bracketedPaste: undefined, lineFeedSeq: source.outputSeq - 3 });
});

test("a listener hears what comes from then on; one that follows, in the turn in which it comes", () => {
  const source = new MemorySource();
  const tracker = trackerOf(source);
  const heard: string[] = [];
  source.write("\u001b]2;before\u0007\u0007\u001b]2;cut ");
  const name = (by: string) => (mark: StreamMark, from: number, to: number) =>
    void (mark.kind === "title" && heard.push(`${by} ${mark.title} ${from}-${to}`));
  const unlisten = tracker.listen({ mark: name("listener") });
  source.write("here\u0007");
  expect(heard).toEqual([]);
  tracker.readOn();
  expect(heard.splice(0)).toEqual(["listener cut here 12-25"]);
  const gaps: number[] = [];
  const unfollow = tracker.follow({
    mark: name("follower"),
    bell: (at) => heard.push(`bell ${at}`),
    gap: ({ to }) => gaps.push(to),
  });
  const other = tracker.follow({ mark: name("other"), bell: (at) => heard.push(`other bell ${at}`) });
  expect(source.listeners).toBe(1);
  source.write("\u0007\u001b]2;x\u0007");
  expect(heard.splice(0)).toEqual([
    "bell 25",
    "other bell 25",
    "listener x 26-32",
    "follower x 26-32",
    "other x 26-32",
  ]);
  source.gap(3);
  expect(gaps).toEqual([35]);
  unfollow();
  unfollow();
  source.write("\u0007\u001b]2;y\u0007");
  expect(heard.splice(0)).toEqual(["other bell 35", "listener y 36-42", "other y 36-42"]);
  unlisten();
  // What somebody listens to is not skipped, however much it is.
  source.write(`\u001b]2;z\u0007${"x".repeat(20_000)}`);
  expect(heard.splice(0)).toEqual(["other z 42-48"]);
  other();
  expect(source.listeners).toBe(0);
});

test.each<[string, readonly number[]]>([
  ["a\u0007b", [1]],
  ["\u0007\u0007", [0, 1]],
  ["\u001b]0;title\u0007", []],
  ["\u001b]0;title\u001b\\\u0007", [11]],
  ["\u001bPq\u0007\u001b\\", []],
  ["\u001b_a\u0007", []],
  ["\u001bktitle\u0007\u001b\\", []],
  ["\u001b[1\u0007m", [3]],
  ["\u001b[1\tm\u001b[?2004h\u001b[?1049h\u0007", [21]],
  ["\u001b\u0007c", [1]],
  ["\u001b]8;;http://x\u0007link\u001b]8;;\u0007\u0007", [24]],
  ["é\u0007", [2]],
  ["\u00c3\u0007", [2]],
])("bells in %j, however it is cut", (text, bells) => {
  const bytes = Buffer.from(text);
  fc.assert(
    fc.property(cuts, (at) => {
      const source = new MemorySource();
      const heard: number[] = [];
      const stop = trackerOf(source).follow({ bell: (position) => heard.push(position) });
      for (const chunk of cutAt(bytes, at)) source.write(chunk);
      stop();
      expect(heard).toEqual(bells);
      const scanned: number[] = [];
      scanMarks(source, 0, source.outputSeq, { bell: (position) => scanned.push(position) });
      expect(scanned).toEqual(bells);
    }),
    { numRuns: 30 },
  );
});

test("much that nobody listened to is not parsed for nothing, and nothing is overlooked in it", () => {
  const dense = "\u001b[38;5;12mword\u001b[0m ".repeat(2_000);
  const source = new MemorySource();
  source.write(`\u001b[?2004h${dense}`);
  expect(trackerOf(source).readOn().bracketedPaste).toBe(true);
  source.write(`${dense}\u001b[?20`);
  expect(trackerOf(source).readOn().bracketedPaste).toBe(true);
  source.write(`04l${dense}\n${dense}`);
  expect(trackerOf(source).readOn()).toMatchObject({ bracketedPaste: false, shellMark: undefined });
  expect(trackerOf(source).lineFeedSeq).toBe(source.outputSeq - dense.length);
  source.write(`${dense}\u001b]133;A\u0007${dense}`);
  expect(trackerOf(source).readOn()).toMatchObject({ shellMark: "prompt" });
  source.write(`${dense}\u001b]13`);
  trackerOf(source).readOn();
  source.write("3;B\u0007");
  expect(trackerOf(source).readOn().promptMarkSeq).toBe(source.outputSeq - 8);
  source.write(`\u001b[?2004h${dense}`);
  expect(trackerOf(source).readOn().bracketedPaste).toBe(true);
  source.write(`${dense}\u001bc${dense}`);
  expect(trackerOf(source).readOn().bracketedPaste).toBe(false);
});
