import { describe, expect, test } from "vitest";
import { LineSplitter } from "../../../../protocol/control/lines.ts";
import { MAX_LINE_BYTES } from "../../../../protocol/limits.ts";

interface Splitter {
  readonly splitter: LineSplitter;
  readonly seen: string[];
  /** Whether the line was a view of the chunk given last. */
  readonly views: boolean[];
  readonly push: (text: string) => void;
}

function splitterWithLog(): Splitter {
  const seen: string[] = [];
  const views: boolean[] = [];
  let last = new Uint8Array(0);
  const splitter = new LineSplitter(
    (buffer, from, to) => {
      seen.push(Buffer.from(buffer.subarray(from, to)).toString("latin1"));
      views.push(buffer === last);
    },
    () => seen.push("too long"),
  );
  return {
    splitter,
    seen,
    views,
    push: (text) => {
      last = new Uint8Array(Buffer.from(text, "latin1"));
      splitter.push(last);
    },
  };
}

describe("LineSplitter", () => {
  test("cuts at LF and keeps what is left", () => {
    const { push, seen, splitter } = splitterWithLog();
    push("a\n\nbc\r\nd");
    expect(seen).toEqual(["a", "", "bc\r"]);
    expect(splitter.carriedBytes).toBe(1);
    push("e\n");
    expect(seen).toEqual(["a", "", "bc\r", "de"]);
    expect(splitter.carriedBytes).toBe(0);
  });

  test("copies only a line that spans chunks", () => {
    const { push, views } = splitterWithLog();
    push("whole\npa");
    push("rt\nwhole\n");
    expect(views).toEqual([true, false, true]);
  });

  test("an empty chunk changes nothing", () => {
    const { push, seen, splitter } = splitterWithLog();
    push("ab");
    push("");
    expect(splitter.carriedBytes).toBe(2);
    push("\n");
    expect(seen).toEqual(["ab"]);
  });

  test("a line longer than the first carry is whole", () => {
    const { push, seen } = splitterWithLog();
    const piece = "x".repeat(3_000);
    for (let times = 0; times < 5; times += 1) push(piece);
    push("\n");
    expect(seen).toEqual([piece.repeat(5)]);
  });

  test.each([
    ["in one chunk", ["x".repeat(MAX_LINE_BYTES + 1) + "\nnext\n"]],
    ["in two chunks", ["x".repeat(MAX_LINE_BYTES), "x\nnext\n"]],
    ["in many", ["x", "x".repeat(MAX_LINE_BYTES), "x".repeat(MAX_LINE_BYTES), "x\nne", "xt\n"]],
    ["with its end apart", ["x".repeat(MAX_LINE_BYTES + 1), "\n", "next\n"]],
  ])("a line over the limit %s is reported once and dropped", (_how, chunks) => {
    const { push, seen, splitter } = splitterWithLog();
    for (const chunk of chunks) {
      push(chunk);
      expect(splitter.carriedBytes).toBeLessThanOrEqual(MAX_LINE_BYTES);
    }
    expect(seen).toEqual(["too long", "next"]);
  });

  test.each([1, 2])(
    "a line of exactly the limit is whole, in %d chunks, the first with the end of another",
    (pieces) => {
      const { push, seen } = splitterWithLog();
      for (let piece = 0; piece < pieces; piece += 1) push("\n".slice(piece) + "x".repeat(MAX_LINE_BYTES / pieces));
      push("\n");
      expect(seen.map((line) => line.length)).toEqual([0, MAX_LINE_BYTES]);
    },
  );

  test("the carry grows no further than the limit", () => {
    let carryBytes = 0;
    const splitter = new LineSplitter(
      (buffer) => (carryBytes = buffer.length),
      () => undefined,
    );
    for (const bytes of [(MAX_LINE_BYTES * 3) / 4, MAX_LINE_BYTES / 4]) splitter.push(new Uint8Array(bytes).fill(120));
    splitter.push(Buffer.from("\n"));
    expect(carryBytes).toBe(MAX_LINE_BYTES);
  });
});
