/** Text arrives byte for byte, whatever it is, and one job at a time. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { bracketedPasteOf } from "../../daemon/delivery/pane/bracketedPaste.ts";
import { typedBytes } from "../../daemon/panes/input/typedBytes.ts";
import type { InputPart } from "../../daemon/tmux/io.ts";
import {
  concurrentLines,
  HOSTILE_TEXTS,
  randomBytes,
  typed,
  typeInShortJobs,
  unicodeText,
} from "../support/tmux/inputScenarios.ts";
import { ownedFixture, type OwnedFixture } from "../support/tmux/ownedFixture.ts";
import { ByteSink, keys, text } from "../support/tmux/panePrograms.ts";

let fixture: OwnedFixture;
let sink: ByteSink;
let receivedBytes = 0;

beforeAll(async () => {
  fixture = await ownedFixture();
  sink = await ByteSink.start(fixture.server, fixture.socket.directory, "texts");
});

afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
});

test.each(Object.entries(HOSTILE_TEXTS))("%s", async (_kind, value) => {
  const bytes = Buffer.from(value);
  const received = await typed(fixture.server, sink, bytes, receivedBytes);
  receivedBytes += bytes.length;
  expect(received).toEqual(bytes);
});

test.each([
  ["1 MiB of random bytes", randomBytes(1_048_576)],
  ["1 MiB of text", Buffer.alloc(1_048_576, "für 漢字; $(x) \"q\" 'q' #{y}\n")],
  ["64 KiB of NUL", Buffer.alloc(65_536)],
])("%s", async (_kind, bytes) => {
  const received = await typed(fixture.server, sink, bytes, receivedBytes);
  receivedBytes += bytes.length;
  expect(received.equals(bytes)).toBe(true);
});

test("code points of all planes go by send-keys unchanged", async () => {
  const unicode = await ByteSink.start(fixture.server, fixture.socket.directory, "unicode");
  const bytes = unicodeText(23);
  expect((await typeInShortJobs(fixture.server, unicode, bytes)).equals(bytes)).toBe(true);
});

test("a paste is bracketed exactly when the program asked for it", async () => {
  const { server, socket } = fixture;
  const paste = { kind: "paste", bytes: Buffer.from("a\nb\tc é") } as const;
  const long = { kind: "paste", bytes: Buffer.alloc(20_000, "long\n") } as const;
  const plain = await ByteSink.start(server, socket.directory, "plain");
  await server.input(plain.pane, [paste, long]);
  const expected = Buffer.concat([paste.bytes, long.bytes]);
  expect(await plain.received(expected.length)).toEqual(expected);

  const bracketing = await ByteSink.start(server, socket.directory, "bracketing", "\u001b[?2004h");
  await server.input(bracketing.pane, [paste, long]);
  const [open, close] = ["\u001b[200~", "\u001b[201~"].map((mark) => Buffer.from(mark)) as [Buffer, Buffer];
  const marked = Buffer.concat([open, paste.bytes, close, open, long.bytes, close]);
  expect(await bracketing.received(marked.length)).toEqual(marked);

  // What would end it early is refused, and nothing of its job is typed.
  const ending = { kind: "paste", bytes: Buffer.from("x\u001b[201~y") } as const;
  await expect(server.input(bracketing.pane, [text("before"), ending])).rejects.toMatchObject({
    code: "INVALID_ARGUMENT",
  });
  await server.input(bracketing.pane, [text("after")]);
  expect((await bracketing.received(marked.length + 5)).subarray(marked.length).toString()).toBe("after");

  for (const [name, off] of [
    ["left", "\u001b[?2004l"],
    ["reset", "\u001bc"],
  ] as const) {
    const left = await ByteSink.start(server, socket.directory, name, `\u001b[?2004h${off}`);
    await server.input(left.pane, [paste]);
    expect(await left.received(paste.bytes.length)).toEqual(paste.bytes);
    expect(bracketedPasteOf(left.program.source)).toBe("off");
  }
});

test("parts of one job arrive in their order", async () => {
  const { server, socket } = fixture;
  const order = await ByteSink.start(server, socket.directory, "order");
  await server.input(order.pane, [
    text("a"),
    keys("Enter", "C-c", "Up", ";", "-"),
    text(Buffer.alloc(2_000, "b")),
    text(Uint8Array.of(0, 255)),
    keys("Escape"),
    text("z"),
  ]);
  const expected = Buffer.concat([
    Buffer.from("a\r\u0003\u001b[A;-"),
    Buffer.alloc(2_000, "b"),
    Buffer.of(0, 255, 27, 122),
  ]);
  expect(await order.received(expected.length)).toEqual(expected);
});

test("what is typed under a condition arrives exactly where it holds, and nothing of it where it does not", async () => {
  const { server, socket } = fixture;
  const guarded = await ByteSink.start(server, socket.directory, "condition");
  const { pane } = guarded;
  const { pid, command } = await server.foreground(pane);
  const allBytes = Buffer.from(Array.from({ length: 256 }, (_, at) => at));
  const jobs: InputPart[][] = [
    ...Object.values(HOSTILE_TEXTS).map((value) => [text(value)]),
    [
      text(allBytes),
      keys("Enter", ";", "#"),
      { kind: "paste", bytes: Buffer.from("#{x}\n#(y) %1 $HOME ~ \"'\\") },
      text("z\n"),
    ],
    [text(randomBytes(40_000)), text("rm\n")],
  ];
  let expected = Buffer.alloc(0);
  for (const parts of jobs) {
    await expect(server.input(pane, parts, { onlyIf: { pid, command: "another" } })).rejects.toMatchObject({
      code: "INCONSISTENT_STATE",
    });
    await server.input(pane, parts, { onlyIf: { pid, command } });
    expected = Buffer.concat([expected, typedBytes(parts)]);
  }
  expect((await guarded.received(expected.length)).equals(expected)).toBe(true);
});

test("100 lines typed at once arrive whole, in the order of the calls, around a paste of 1 MB", async () => {
  const { server, socket } = fixture;
  const lines = await ByteSink.start(server, socket.directory, "lines");
  const result = await concurrentLines(server, lines, 100, 0);
  expect(result.lines).toEqual(result.expected);
  const pasted = await ByteSink.start(server, socket.directory, "pasted");
  const around = await concurrentLines(server, pasted, 100, 1_000_000);
  expect(around.lines.map((line) => line.length)).toEqual(around.expected.map((line) => line.length));
  expect(around.lines).toEqual(around.expected);
});

test("no buffer and no log line is left behind", () => {
  expect(fixture.socket.tmux("list-buffers")).toBe("");
  expect(fixture.log).toEqual([]);
});
