/** Where the last lines begin, in what a source still has. */
import { expect, test } from "vitest";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import { tailStart } from "../../../../daemon/panes/tailStart.ts";

const PIECE = 65_536;
const X = "x".repeat(140_000);

test.each<[string, string, number, string]>([
  ["lines that have ended", "a\r\nb\r\nc\r\n", 2, "b\r\nc\r\n"],
  ["the last without an end", "a\nb\nc", 2, "b\nc"],
  ["the last with nothing but sequences, which is none", "a\nb\n\u001b[0m\u001b[?25h", 1, "b\n\u001b[0m\u001b[?25h"],
  ["the last with one letter behind a sequence", "a\nb\n\u001b[4@$", 1, "\u001b[4@$"],
  ["the last with a blank", "a\nb\n ", 1, " "],
  ["the last with a control character alone", "a\nb\n\r", 1, "b\n\r"],
  ["empty lines, each of them one", "a\n\n\n", 2, "\n\n"],
  ["all, where there are fewer", "a\nb", 5, "a\nb"],
  ["all, where the first is empty", "\na", 5, "\na"],
  ["those after an empty one", "\nab", 1, "ab"],
  ["nothing", "", 3, ""],
  ["a line longer than a piece", `a\n${X}\n`, 1, `${X}\n`],
  ["a line end at a piece's edge", `a\n${"x".repeat(PIECE)}`, 1, "x".repeat(PIECE)],
  [
    "sequences in the last piece, and text before it",
    `a\nb${"\u001b[0m".repeat(20_000)}`,
    1,
    `b${"\u001b[0m".repeat(20_000)}`,
  ],
])("the tail of %s", (_what, output, lines, expected) => {
  const stream = new PaneStream({ id: "%1", epoch: "e", retainBytes: 200_000, onListenerError: () => undefined });
  stream.take(Buffer.from(output));
  const from = tailStart(stream, lines);
  expect(Buffer.from(output).toString("latin1", from)).toBe(expected);
});

test("what has left the ring, or is missing, is no part of it", () => {
  const stream = new PaneStream({ id: "%1", epoch: "e", retainBytes: 100, onListenerError: () => undefined });
  stream.take(Buffer.from("a\n".repeat(200)));
  expect(tailStart(stream, 1_000)).toBe(stream.tailSeq);
  // Where something is missing, what is there up to it cannot be counted on: reading begins with the gap.
  const holeSeq = stream.outputSeq;
  stream.declareHole("paused");
  stream.take(Buffer.from("b\nc\n"));
  expect(tailStart(stream, 1)).toBe(holeSeq);
  // At a piece's edge too.
  const long = new PaneStream({ id: "%1", epoch: "e", retainBytes: 200_000, onListenerError: () => undefined });
  long.take(Buffer.from("a\nb\n"));
  long.declareHole("paused");
  long.take(Buffer.from("x".repeat(PIECE - 1)));
  expect(tailStart(long, 1)).toBe(4);
});
