/** What the mask decides about text that it holds back: after a pause, and when output is missing. */
import { expect, test } from "vitest";
import { EchoMask } from "../../../../../daemon/waits/echo/echoMask.ts";

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
