import { expect, test } from "vitest";
import { type CastEnd, RecordingEncoder } from "../../../../daemon/recordings/recordingEncoder.ts";

function tapeWith(options: { readonly version?: 2 | 3; readonly maxBytes?: number; readonly input?: boolean } = {}) {
  const lines: string[] = [];
  const ends: CastEnd[] = [];
  let nowMs = 1_000;
  const encoder = new RecordingEncoder({
    version: options.version ?? 2,
    maxBytes: options.maxBytes ?? 1_000_000,
    nowMs: () => nowMs,
    startedUnixMs: 0,
    input: options.input ?? false,
    write: (line) => lines.push(line),
    onEnd: (end) => ends.push(end),
  });
  return {
    encoder,
    ends,
    events: () => lines.slice(1).map((line) => JSON.parse(line) as unknown),
    text: () => lines.join(""),
    passMs: (ms: number) => {
      nowMs += ms;
    },
  };
}

const SOURCE = { server: "main", pane: "%1" };
const SIZE = { cols: 10, rows: 4 };

test("the screen, output, sizes, holes and the end, each at its time", () => {
  const { encoder, events, ends, passMs } = tapeWith();
  encoder.open(SOURCE, SIZE);
  encoder.snapshot(SIZE, Buffer.from("S"));
  passMs(1_500);
  encoder.output(Buffer.from("a"));
  encoder.resized({ cols: 20, rows: 4 });
  encoder.snapshot({ cols: 20, rows: 4 }, Buffer.from("T"));
  encoder.gap({ from: "e:1", to: "f:0", reason: "epoch" });
  encoder.snapshot({ cols: 30, rows: 5 }, Buffer.from("U"));
  encoder.exited({ exitCode: 3 });
  encoder.end("pane");
  encoder.end("stopped");
  encoder.output(Buffer.from("late"));
  expect(events()).toEqual([
    [0, "o", "S"],
    [1.5, "o", "a"],
    [1.5, "r", "20x4"],
    [1.5, "o", "T"],
    [1.5, "m", "gap: output from e:1 to f:0 is missing (epoch)"],
    [1.5, "r", "30x5"],
    [1.5, "o", "U"],
    [1.5, "m", "exit: status 3"],
    [1.5, "m", "end: the pane closed"],
  ]);
  expect(ends).toEqual(["pane"]);
  expect(encoder.gaps).toBe(1);
});

test("version 3 ends with the status, as shells tell it; not when another program has printed since", () => {
  for (const [exit, status] of [
    [{ exitCode: 0 }, ["0"]],
    [{ signal: 9 }, ["137"]],
    [{}, []],
  ] as const) {
    const { encoder, events } = tapeWith({ version: 3 });
    encoder.open(SOURCE, SIZE);
    encoder.exited(exit);
    encoder.end("pane");
    expect(
      (events() as [number, string, string][]).filter(([, code]) => code === "x").map(([, , data]) => data),
    ).toEqual(status);
  }
  const { encoder, events } = tapeWith({ version: 3 });
  encoder.open(SOURCE, SIZE);
  encoder.exited({ exitCode: 1 });
  encoder.output(Buffer.from("again"));
  encoder.end("stopped");
  expect((events() as [number, string][]).map(([, code]) => code)).toEqual(["m", "o", "m"]);
});

test("it never has more bytes than its bound, and says so at its end", () => {
  const { encoder, events, text, ends } = tapeWith({ maxBytes: 65_536, version: 3 });
  encoder.open(SOURCE, SIZE);
  for (let at = 0; at < 100; at += 1) encoder.output(Buffer.alloc(1_000, "\u0007"));
  expect(ends).toEqual(["size"]);
  expect(Buffer.byteLength(text())).toBe(encoder.bytes);
  expect(encoder.bytes).toBeLessThanOrEqual(65_536);
  expect(encoder.bytes).toBeGreaterThan(50_000);
  expect(events().at(-1)).toEqual([0, "m", "end: it reached its size limit"]);
});

test("what is typed, also where some of it is missing", () => {
  const { encoder, text, events } = tapeWith({ input: true });
  encoder.open(SOURCE, SIZE);
  encoder.input({ bytes: Buffer.from("a\r") });
  encoder.input({ bytes: Buffer.from("b"), missedBytes: 7 });
  expect(text()).toContain('"tmuxwire":{"server":"main","pane":"%1","input":true}');
  expect(events()).toEqual([
    [0, "i", "a\r"],
    [0, "m", "input: 7 bytes are missing"],
    [0, "i", "b"],
  ]);
});

test("what ends before it begins writes nothing", () => {
  const { encoder, text, ends } = tapeWith();
  encoder.end("pane");
  expect({ text: text(), ends }).toEqual({ text: "", ends: ["pane"] });
});
