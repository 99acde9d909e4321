/** The judge of the restart tests must see each fault that it is there for. */
import { expect, test } from "vitest";
import type { PaneEvent } from "../../../../adapters/client/client.ts";
import { judgePieces, PieceReader } from "../../../support/daemon/pieceReader.ts";

const printed = Buffer.from("one\r\ntwo\r\nthree\r\nfour\r\n");
const output = (position: string, text: string): PaneEvent => ({ kind: "output", bytes: Buffer.from(text), position });
const opened = { kind: "open", server: "main", pane: "%1", position: "a:0", cols: 80, rows: 24 } as PaneEvent;
const gap = { kind: "gap", from: "a:5", to: "b:0", reason: "epoch" } as PaneEvent;
const gone: PaneEvent = { kind: "closed", code: "NOT_FOUND", message: "" };

async function read(...events: PaneEvent[]): Promise<PieceReader> {
  const reader = new PieceReader();
  await reader.read(
    (async function* () {
      yield* [opened, ...events, gone];
    })(),
  );
  return reader;
}

test("a hole that was declared is none", async () => {
  const reader = await read(output("a:5", "one\r\n"), gap, output("b:13", "three\r\nfour\r\n"));
  expect(reader).toMatchObject({ fault: undefined, gaps: ["epoch"], bytes: 18 });
  judgePieces([reader], printed);
});

test.each([
  ["a byte that comes again in the same epoch", [output("a:5", "one\r\n"), output("a:5", "one\r\n")]],
  ["a byte that is left out in the same epoch", [output("a:5", "one\r\n"), output("a:17", "three\r\n")]],
  ["another epoch without a gap", [output("a:5", "one\r\n"), output("b:5", "two\r\n")]],
])("%s is a fault", async (_what, events) => {
  expect((await read(...events)).fault?.message).toMatch(/^at a:5, but /);
});

test.each([
  ["bytes that come again after a gap", [output("a:5", "one\r\n"), gap, output("b:23", printed.toString())], "twice"],
  ["bytes that were not printed", [output("a:5", "One\r\n"), gap, output("b:6", "four\r\n")], "not one piece"],
  ["an end that does not come", [output("a:5", "one\r\n"), gap, output("b:7", "three\r\n")], "did not come"],
])("%s are refused", async (_what, events, message) => {
  const reader = await read(...events);
  expect(reader.fault).toBeUndefined();
  expect(() => judgePieces([reader], printed)).toThrow(message);
});
