import { expect, test } from "vitest";
import { CastEncoder } from "../../../../protocol/text/asciicast.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const HEADER = { cols: 80, rows: 24, startedUnixMs: 1_500_000_000_900, source: { server: "main", pane: "%1" } };
const parsed = (line: string): unknown => JSON.parse(line);

test("version 2 counts from the beginning, version 3 from the event before, and intervals add up", () => {
  const two = new CastEncoder(2);
  expect(parsed(two.header({ ...HEADER, title: "t\u001b]0;x" }))).toEqual({
    version: 2,
    width: 80,
    height: 24,
    timestamp: 1_500_000_000,
    title: "t\u001b]0;x",
    tmuxwire: { server: "main", pane: "%1" },
  });
  const three = new CastEncoder(3);
  expect(parsed(three.header(HEADER))).toEqual({
    version: 3,
    term: { cols: 80, rows: 24 },
    timestamp: 1_500_000_000,
    tmuxwire: { server: "main", pane: "%1" },
  });
  const times = [0.0004, 0.0008, 0.0012, 1_000.1, 1_000.1];
  const at = (encoder: CastEncoder): number[] =>
    times.map((ms) => (parsed(encoder.output(ms, bytes("x"))) as [number])[0]);
  expect(at(two)).toEqual([0, 0.000001, 0.000001, 1.0001, 1.0001]);
  const intervals = at(three);
  expect(intervals).toEqual([0, 0.000001, 0, 1.000099, 0]);
  expect(intervals.reduce((sum, one) => sum + one, 0)).toBeCloseTo(1.0001, 9);
});

test("a line is one line and JSON, whatever the pane prints", () => {
  const encoder = new CastEncoder(2);
  const nasty = '"\\\n\r\u2028\u0000\u001b[31m]';
  const line = encoder.output(1, bytes(nasty));
  expect(line.indexOf("\n")).toBe(line.length - 1);
  expect(parsed(line)).toEqual([0.001, "o", nasty]);
});

test("a character that comes in pieces is one; a screen repeats what was begun before it", () => {
  const encoder = new CastEncoder(2);
  const [first, second] = [bytes("é").subarray(0, 1), bytes("é").subarray(1)];
  expect(encoder.output(1, first)).toBe("");
  expect(parsed(encoder.output(2, second))).toEqual([0.002, "o", "é"]);
  expect(encoder.output(3, first)).toBe("");
  expect(parsed(encoder.screen(4, Buffer.concat([bytes("S"), first])))).toEqual([0.004, "o", "S"]);
  expect(parsed(encoder.output(5, second))).toEqual([0.005, "o", "é"]);
  expect(parsed(encoder.output(6, Uint8Array.of(0xff, 0x41)))).toEqual([0.006, "o", "\ufffdA"]);
});

test("an exit status is an event of version 3 only", () => {
  expect(new CastEncoder(2).exit(1, 3)).toBe("");
  expect(parsed(new CastEncoder(3).exit(1, 3))).toEqual([0.001, "x", "3"]);
});
