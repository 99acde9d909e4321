/** What a session says as a stream, and what is kept of a conversation. */
import { describe, expect, test } from "vitest";
import { SessionText } from "../../../../../adapters/freshell/sessions/agentSession.ts";
import { SdkText, SessionHistory } from "../../../../../adapters/freshell/sessions/sdkSession.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { DEFAULT_RING_BYTES } from "../../../../../protocol/limits.ts";

const textOf = (source: SessionText): string => {
  const slice = source.read(source.tailSeq);
  return slice.kind === "bytes" ? Buffer.from(slice.bytes).toString() : "";
};
const newText = (): SessionText =>
  new SessionText({ id: "s", epoch: "e", retainBytes: DEFAULT_RING_BYTES, onListenerError: () => undefined });

describe("the stream", () => {
  test("is told once for all that is written between, and its end after its last line", () => {
    const source = newText();
    const heard: unknown[] = [];
    source.subscribe({
      advanced: (from, to) => heard.push([from, to]),
      gap: () => heard.push("gap"),
      exited: (status) => heard.push(status),
      closed: ({ code }) => heard.push(code),
    });
    source.write("é");
    source.line("two");
    source.announce();
    source.announce();
    source.write("end");
    source.declareExit({ exitCode: 3 });
    source.declareExit({ exitCode: 4 });
    source.close(new AppError("NOT_FOUND", "gone"));
    expect(heard).toEqual([[0, 7], [7, 11], { exitCode: 3 }, "NOT_FOUND"]);
    expect([textOf(source), source.outputSeq, source.exit]).toEqual(["é\ntwo\nend\n", 11, { exitCode: 3 }]);
  });

  test("keeps the newest, and says what is gone; a long piece makes it no larger", () => {
    const source = newText();
    for (let at = 0; at < 40; at += 1) source.write(`${at}`.repeat(50_000));
    source.write("x".repeat(8_000_000));
    source.line("end");
    expect(source.outputSeq - source.tailSeq).toBeLessThanOrEqual(1_048_576 + 65_536);
    expect(source.read(0)).toEqual({ kind: "gap", gap: { from: 0, to: source.tailSeq, reason: "evicted" } });
    expect(textOf(source).endsWith("x\nend\n")).toBe(true);
  });
});

describe("a message in pieces and as a whole", () => {
  const delta = (text: string) => ({ type: "content_block_delta", delta: { type: "text_delta", text } });
  const start = { type: "content_block_start" };
  const words = (text: string) => [{ type: "text" as const, text }];

  test.each([
    ["all of it in pieces", ["a ", "b"], "a b", "a b\n"],
    ["the last pieces are missing", ["a "], "a b", "a b\n"],
    ["none came", [], "a b", "a b\n"],
    ["more came than it holds", ["a b c"], "a b", "a b c\n"],
  ])("%s", (_what, pieces, whole, expected) => {
    const source = newText();
    const text = new SdkText(source);
    text.stream(start, null);
    for (const piece of pieces) text.stream(delta(piece), null);
    text.assistant(words(whole), null);
    expect(textOf(source)).toBe(expected);
  });

  test("two that write at once, and what is no text", () => {
    const source = newText();
    const text = new SdkText(source);
    text.stream(delta("outer "), null);
    text.stream(delta("inner"), "t1");
    text.stream({ type: "content_block_delta", delta: { type: "thinking_delta", thinking: "hm" } }, null);
    text.assistant(words("inner"), "t1");
    text.assistant([{ type: "thinking", thinking: "hm" }, ...words("outer words")], null);
    text.assistant([{ type: "tool_use", id: "t", name: "Ba\nsh\u001b", input: {} }], null);
    text.results([
      { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "one" }, { type: "image" }] },
    ]);
    expect(textOf(source)).toBe("outer \ninner\nwords\n$ Ba sh \none\n");
  });
});

describe("the history", () => {
  const history = (): SessionHistory => new SessionHistory(() => 0);

  test("8 MiB of them as JSON", () => {
    const kept = history();
    for (let at = 0; at < 40; at += 1) kept.add("assistant", [{ type: "text", text: "é".repeat(500_000) }]);
    expect(kept.messages().length).toBe(8);
    expect(Buffer.byteLength(JSON.stringify(kept.messages()))).toBeLessThanOrEqual(8_388_608);
  });
});
