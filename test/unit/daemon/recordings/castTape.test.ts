import { expect, test } from "vitest";
import { type CastEnd, CastTape } from "../../../../daemon/recordings/castTape.ts";

function tapeWith(options: { readonly version?: 2 | 3; readonly maxBytes?: number; readonly input?: boolean } = {}) {
  const lines: string[] = [];
  const ends: CastEnd[] = [];
  let nowMs = 1_000;
  const tape = new CastTape({
    version: options.version ?? 2,
    maxBytes: options.maxBytes ?? 1_000_000,
    nowMs: () => nowMs,
    startedUnixMs: 0,
    input: options.input ?? false,
    write: (line) => lines.push(line),
    onEnd: (end) => ends.push(end),
  });
  return {
    tape,
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
  const { tape, events, ends, passMs } = tapeWith();
  tape.open(SOURCE, SIZE);
  tape.snapshot(SIZE, Buffer.from("S"));
  passMs(1_500);
  tape.output(Buffer.from("a"));
  tape.resized({ cols: 20, rows: 4 });
  tape.snapshot({ cols: 20, rows: 4 }, Buffer.from("T"));
  tape.gap({ from: "e:1", to: "f:0", reason: "epoch" });
  tape.snapshot({ cols: 30, rows: 5 }, Buffer.from("U"));
  tape.exited({ exitCode: 3 });
  tape.end("pane");
  tape.end("stopped");
  tape.output(Buffer.from("late"));
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
  expect(tape.gaps).toBe(1);
});

test("version 3 ends with the status, as shells tell it; not when another program has printed since", () => {
  for (const [exit, status] of [
    [{ exitCode: 0 }, ["0"]],
    [{ signal: 9 }, ["137"]],
    [{}, []],
  ] as const) {
    const { tape, events } = tapeWith({ version: 3 });
    tape.open(SOURCE, SIZE);
    tape.exited(exit);
    tape.end("pane");
    expect(
      (events() as [number, string, string][]).filter(([, code]) => code === "x").map(([, , data]) => data),
    ).toEqual(status);
  }
  const { tape, events } = tapeWith({ version: 3 });
  tape.open(SOURCE, SIZE);
  tape.exited({ exitCode: 1 });
  tape.output(Buffer.from("again"));
  tape.end("stopped");
  expect((events() as [number, string][]).map(([, code]) => code)).toEqual(["m", "o", "m"]);
});

test("it never has more bytes than its bound, and says so at its end", () => {
  const { tape, events, text, ends } = tapeWith({ maxBytes: 65_536, version: 3 });
  tape.open(SOURCE, SIZE);
  for (let at = 0; at < 100; at += 1) tape.output(Buffer.alloc(1_000, "\u0007"));
  expect(ends).toEqual(["size"]);
  expect(Buffer.byteLength(text())).toBe(tape.bytes);
  expect(tape.bytes).toBeLessThanOrEqual(65_536);
  expect(tape.bytes).toBeGreaterThan(50_000);
  expect(events().at(-1)).toEqual([0, "m", "end: it reached its size limit"]);
});

test("what is typed, also where some of it is missing", () => {
  const { tape, text, events } = tapeWith({ input: true });
  tape.open(SOURCE, SIZE);
  tape.input({ bytes: Buffer.from("a\r") });
  tape.input({ bytes: Buffer.from("b"), missedBytes: 7 });
  expect(text()).toContain('"tmuxwire":{"server":"main","pane":"%1","input":true}');
  expect(events()).toEqual([
    [0, "i", "a\r"],
    [0, "m", "input: 7 bytes are missing"],
    [0, "i", "b"],
  ]);
});

test("what ends before it begins writes nothing", () => {
  const { tape, text, ends } = tapeWith();
  tape.end("pane");
  expect({ text: text(), ends }).toEqual({ text: "", ends: ["pane"] });
});
