/** What the mask takes for an echo, and what it decides about text that it holds back: after a pause, and when output is missing. */
import { expect, test, vi } from "vitest";
import { EchoMask } from "../../../../../daemon/waits/echo/echoMask.ts";
import { EchoRow } from "../../../../../daemon/waits/echo/echoRow.ts";
import { LineBeginnings, TypedProgress } from "../../../../../daemon/waits/echo/typedLines.ts";
import { seenText, shownText, type Typing } from "./seenText.ts";

const START = 100;

const fed = (...chunks: readonly string[]): EchoMask => maskFed(false, chunks);
/** The same where a shell's editor reads what is typed. */
const drawn = (...chunks: readonly string[]): EchoMask => maskFed(true, chunks);

/** A mask that has been fed these bytes, typed after `START`. */
function maskFed(isShellEditor: boolean, chunks: readonly string[]): EchoMask {
  const mask = new EchoMask({
    typed: Buffer.from("make\r"),
    start: START,
    row: Buffer.from("$ "),
    isLineEditor: true,
    isShellEditor,
    windowBytes: 1_000,
  });
  let at = START;
  for (const chunk of chunks) {
    mask.feed(Buffer.from(chunk), at);
    at += chunk.length;
  }
  return mask;
}

const held = ({ visibleTo, hiddenTo }: EchoMask): readonly [held: number | undefined, hiddenTo: number] => [
  visibleTo === Infinity ? undefined : visibleTo,
  hiddenTo,
];

test("a beginning of the line is held for two seconds of quiet, then it is output", () => {
  const mask = fed("ma");
  expect([mask.settle(1_999), ...held(mask)]).toEqual([2_000, START, 0]);
  expect([mask.settle(2_000), ...held(mask)]).toEqual([undefined, undefined, 0]);
  expect(mask.takeShown(START + 2)).toEqual([{ from: START, to: START + 2 }]);
});

test("a whole line is held until its row ends, however long that takes", () => {
  const mask = fed("make");
  expect([mask.settle(60_000), ...held(mask)]).toEqual([undefined, START, 0]);
});

test("a pause decides about a row that an editor has changed: without the whole line it is output, with it an echo", () => {
  const without = fed("mak", "\u001b[31mX");
  expect([without.settle(30), ...held(without)]).toEqual([undefined, undefined, 0]);
  const suggested = fed("make", "\u001b[90m all");
  expect([suggested.settle(30), ...held(suggested)]).toEqual([undefined, undefined, START + 4]);
});

test("what is held when output goes missing is output, and typing is looked for behind the gap", () => {
  const mask = fed("ma");
  mask.gap(START + 50);
  expect([held(mask), mask.openFrom]).toEqual([[undefined, START + 50], START + 50]);
  mask.feed(Buffer.from("ke\r\n"), START + 50);
  expect(held(mask)).toEqual([undefined, START + 50]);
  expect(mask.takeShown(START + 54)).toContainEqual({ from: START, to: START + 50 });
});

test.each([
  ["in one", ["make all\r\n\u001b[?2004l\r"]],
  ["cut inside its end", ["make", " all\r\n\u001b[?20", "04l", "\r"]],
])("what a shell's editor draws is hidden up to its end, %s", (_how, chunks) => {
  const mask = drawn(...chunks);
  const end = START + chunks.join("").length;
  expect([mask.isEditing, mask.hiddenTo, mask.takeShown(end)]).toEqual([false, end - 1, [{ from: end - 1, to: end }]]);
});

test("a shell's editor that never says that it ends has ended after ten seconds of quiet: what is kept is output", () => {
  const mask = drawn("make all\r\n", "all of it\r\n");
  const end = START + 21;
  expect([mask.settle(9_999), mask.isEditing, ...held(mask), mask.takeShown(end)]).toEqual([
    10_000,
    true,
    START,
    0,
    [],
  ]);
  expect([mask.settle(10_000), mask.isOver, ...held(mask), mask.takeShown(end)]).toEqual([
    undefined,
    true,
    undefined,
    0,
    [{ from: START, to: end }],
  ]);
});

test.each([
  ["in one", 70_000],
  ["in pieces", 700],
])("of what such an editor draws the last 64 KiB are kept, %s", (_how, piece) => {
  const mask = drawn(...Array.from({ length: 70_000 / piece }, () => ".".repeat(piece)));
  const end = START + 70_000;
  expect([mask.isEditing, ...held(mask)]).toEqual([true, end - 65_536, end - 65_536]);
  expect(mask.takeShown(end)).toEqual([]);
  mask.settle(10_000);
  expect([mask.isOver, mask.takeShown(end)]).toEqual([true, [{ from: end - 65_536, to: end }]]);
});

test("output that goes missing while a shell's editor draws: what it drew stays hidden, and what comes is output", () => {
  const mask = drawn("make all");
  mask.gap(START + 50);
  expect([mask.isOver, ...held(mask), mask.openFrom]).toEqual([true, undefined, START + 50, START + 50]);
  mask.feed(Buffer.from("make\r\n"), START + 50);
  const shown = mask.takeShown(START + 56);
  expect(shown.filter(({ from }) => from < START + 50)).toEqual([]);
});

const CSI = "\u001b[";
const [ON, OFF] = [`${CSI}?2004h`, `${CSI}?2004l`];
interface Options extends Partial<Omit<Typing, "typed" | "row">> {
  readonly row?: string;
}

test.each<[string, string, string, Options?]>([
  ["up to the row's end, once", "make\r", "«make»\r\nmake\r\n"],
  ["behind a prompt", "make\r", "$ «make»\r\nout"],
  ["not behind a word", "make\r", "remake\r\n"],
  ["where typing began, whatever is before it", "bob\r", `\r${CSI}Kname«bob»\r\nout`, { row: "name" }],
  ["wrapped by readline", "echo 012345\r", "«echo 012 \r345»\r\nout"],
  ["wrapped at a line end", "echo DONE\r", "«echo DO\r\nNE»\r\nDONE"],
  ["wrapped twice", "echo DONE\r", "«echo\r\n DO\r\nNE»\r\nDONE"],
  ["one character is no wrapped line", "echo\r", "e\r\n«echo»\r\nout"],
  ["nor is one that the cursor has left", "echo\r", `ec${CSI}A«echo»\r\nout`],
  ["nor one that goes on differently", "echo DONE\r", "echo DO\r\nDONE\r\n"],
  ["without blanks at its end", "make  \r", "«make»\r\nout"],
  ["with blanks behind it", "make\r", "«make  »\r\nout"],
  ["not with more behind it", "make\r", "make all\r\nmake  x\r\n"],
  ["nor with more behind its blanks, but the next one", "make\r", "make  x\r\n«make»\r\nmake"],
  ["without Enter, with more that is no word", "make", "«make»: done\r\nmake"],
  ["without Enter, not as a word's beginning", "make", "makes\r\n"],
  ["not a suggestion behind it", "make\r", `«make»${CSI}90m all\r\nout`],
  ["changed by the cursor", "make\r", "mk\b«ake»\r\nout"],
  ["with a character that is inserted", "make\r", `mke\b\b${CSI}@«a»\r\nout`],
  ["with one that is deleted", "make\r", `maake\b\b\b${CSI}P\r\nmake\r\n`],
  ["where the rest was erased", "make\r", `makezz\b\b${CSI}K\r\nmake\r\n`],
  ["where the row was erased up to the cursor", "make\r", `zz${CSI}1K«make»\r\nout`],
  ["where all of the row was erased", "make\r", `zz${CSI}2K«make»\r\nout`],
  ["drawn from the first column on", "make\r", `«m\ra${CSI}Gmake»\r\nout`],
  [
    "an editor ends before its line does, and nothing at its next prompt",
    "make\r",
    `«make»${OFF}\r\r\nmake\r\n${ON}make\r\n`,
    { isLineEditor: true },
  ],
  [
    "the next line only at the editor's next prompt",
    "a1\rb2\r",
    `«a1»\r\n${OFF}\rb2\r\n${ON}$ «b2»\r\n${OFF}\rb2`,
    { isLineEditor: true },
  ],
  ["lines that a tty echoes, one after the other", "a1\rb2\r", "«a1\r\nb2»\r\nb2\r\n"],
  [
    "typed ahead: once more when an editor comes",
    "make\r",
    `«make»\r\nmake\r\n${ON}$ «make»\r\n${OFF}\rmake\r\n${ON}$ make\r\n`,
  ],
  ["and only in its first row", "make\r", `«make»\r\n${ON}motd\r\nmake\r\n`],
  [
    "what stays in the editor, each time it is drawn, until the editor ends",
    "DO",
    `«DO»\r\n$ «DO\r${CSI}K$ DO»${OFF}\r\nDO\r\n${ON}DO`,
    { isLineEditor: true },
  ],
  [
    "nothing after that, though an editor comes again",
    "make\r",
    `«make»\r\n${OFF}out\r\n${ON}make\r\n`,
    { isShellEditor: true, isLineEditor: true },
  ],
  ["its last beginning only", "--x\r", "-«--x»\r\nout"],
  ["left without a line feed: drawn once more", "make\r", `«make»${CSI}A$ «make»\r\nmake`, { isLineEditor: true }],
  ["and so four times", "make\r", `${`«make»${CSI}A`.repeat(5)}make\r\n`, { isLineEditor: true }],
  ["a row is read for 8 KiB of columns", "make\r", `${CSI}8000Cxmake\r\nout`],
  ["behind those a row begins", "make\r", `${CSI}9000Cx«make»\r\nout`],
  ["a row is read for 4 KiB and four times the line", "make\r", `${"x".repeat(4_112)}make\r\nout`],
  ["behind that a row begins", "make\r", `${"x".repeat(4_113)}«make»\r\nout`, { windowBytes: 9_000 }],
  [
    "as many bytes after the last line as the window has",
    "a1\rb2\r",
    "«a1»\r\n.......\r\n«b2»\r\n",
    { windowBytes: 9 },
  ],
  ["and no more", "a1\rb2\r", "«a1»\r\n........\r\nb2\r\n", { windowBytes: 9 }],
])("hidden is an echo %s", (_what, typed, marked, { row = "", ...options } = {}) => {
  const parts = marked.split(/[«»]/);
  const bytes = Buffer.from(parts.join(""));
  const isShown = parts.flatMap((part, index) => Array.from(Buffer.from(part), () => index % 2 === 0));
  const typing = { isLineEditor: false, isShellEditor: false, windowBytes: 5_000, ...options };
  const { text } = seenText({ ...typing, typed: Buffer.from(typed), row: Buffer.from(row) }, [bytes]);
  expect(text).toEqual(shownText(bytes, (place) => isShown[place] === true));
});

test("bytes that were fed before are passed over", () => {
  const mask = fed("ma");
  for (const before of ["m", "ma", "make\r\n"]) mask.feed(Buffer.from(before), START);
  expect(held(mask)).toEqual([undefined, START + 6]);
});

/** All words of these letters. */
const words = (letters: string, length: number): readonly string[] =>
  length === 0 ? [""] : words(letters, length - 1).flatMap((word) => Array.from(letters, (letter) => word + letter));

test("the longest beginning of a line that a text ends in, where a line may begin", () => {
  const wrong: string[] = [];
  for (const line of [1, 2, 3, 4, 5].flatMap((length) => words("a-", length))) {
    const beginnings = new LineBeginnings(Array.from(line));
    for (const text of words("a-", 8)) {
      let length = 0;
      for (const [at, character] of Array.from(text).entries())
        length = beginnings.next(length, character, text[at - 1]);
      const longest = Array.from(line, (_character, at) => line.slice(0, at + 1)).findLast(
        (beginning) => text.endsWith(beginning) && text.at(-1 - beginning.length) !== "a",
      );
      if (length !== (longest ?? "").length) wrong.push(`${line} in ${text}: ${length}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("a row in which an editor writes the last letter again with each new one is not read from its beginning each time", () => {
  const { line } = new TypedProgress(Buffer.from("a".repeat(2_000)), true);
  const next = vi.spyOn(line!.beginnings, "next");
  const row = new EchoRow(0);
  for (let at = 0; at < 2_000; at++) {
    if (at > 0) {
      row.move(-1);
      row.put("a", at);
    }
    row.put("a", at);
    row.beginningOf(line!);
  }
  expect(row.endsWith(line!)).toBe(0);
  expect(next.mock.calls.length).toBeLessThan(10_000);
});
