import { describe, expect, test } from "vitest";
import { ControlParser, type GuardBlock, type ReplyShape } from "../../../../protocol/control/parser.ts";
import { MAX_LINE_BYTES, MAX_REPLY_BYTES } from "../../../../protocol/limits.ts";
import { heldBy } from "../../../support/daemon/heapBytes.ts";
import { EventLog } from "../../../support/tmux/controlTranscript.ts";

const NONCE = "n0nce";
const CLOSING = "ecn0n";
const FOREIGN: ReplyShape = { kind: "foreign", nonce: NONCE };

class Harness {
  readonly log: EventLog;
  readonly parser: ControlParser;

  constructor(...shapes: readonly ReplyShape[]) {
    this.log = new EventLog(shapes);
    this.parser = new ControlParser(this.log);
  }

  push(...lines: readonly string[]): this {
    for (const line of lines) this.parser.push(Buffer.from(`${line}\n`, "latin1"));
    return this;
  }

  get events(): readonly string[] {
    return this.log.events;
  }
}

describe("outside a block", () => {
  test("output of a pane, escaped or aged", () => {
    const aged = "%extended-output %5 77 x y:y z: :w : a : b";
    const { events } = new Harness().push("%output %3 a\\015\\012", "%output %4 ", aged);
    expect(events).toEqual(["output %3 a‹0d›‹0a›", "output %4 ", "output %5 a : b"]);
  });

  test("a session's name that is written like output is a name", () => {
    const { events } = new Harness().push("%session-renamed $1 a : b");
    expect(events).toEqual(['session-renamed session="$1" name="a : b"']);
  });

  test.each(["%output %3", "%output 3 a", "%output %x a", "%output %3a b", "%output %12345678901 a"])(
    "%j is no output",
    (line) => {
      expect(new Harness().push(line).events).toEqual([`other keyword="%output" text=${JSON.stringify(line)}`]);
    },
  );

  test.each(["%extended-output %3", "%extended-output %3 5", "%extended-output %3 5 :", "%extended-output %3x : y"])(
    "%j is no output",
    (line) => {
      expect(new Harness().push(line).events).toEqual([
        `other keyword="%extended-output" text=${JSON.stringify(line)}`,
      ]);
    },
  );

  test("nothing that stood in an earlier line is read past the end of a line", () => {
    const { parser, events } = new Harness();
    for (const chunk of ["%output %12 long", "er\n%output", " %12\n"]) parser.push(Buffer.from(chunk));
    expect(events).toEqual(["output %12 longer", 'other keyword="%output" text="%output %12"']);
  });

  test("a guard that closes nothing is other", () => {
    expect(new Harness().push("%end 1 2 1").events).toEqual(['other keyword="%end" text="%end 1 2 1"']);
  });

  test("after %exit nothing counts", () => {
    const { events } = new Harness().push("%exit bye", "\u001b\\", "%output %1 x", "x".repeat(MAX_LINE_BYTES + 1));
    expect(events).toEqual(['exit reason="bye"']);
  });
});

describe("the wrapper of -CC", () => {
  test("is taken from the first line only, and CR then belongs to the line end", () => {
    const { events } = new Harness({ kind: "ours" }).push(
      "\u001bP1000p%begin 1 2 1\r",
      "a\r\r",
      "\u001bP1000pb\r",
      "%end 1 2 1\r",
    );
    expect(events).toEqual(["block 2 client ok", "  | a‹0d›", "  | ‹1b›P1000pb"]);
  });

  test("once a line has come without CR, a CR is text", () => {
    const { events } = new Harness({ kind: "ours" }).push("\u001bP1000p%begin 1 2 1\r", "a", "b\r", "%end 1 2 1");
    expect(events).toEqual(["block 2 client ok", "  | a", "  | b‹0d›"]);
  });

  test("without it CR is text", () => {
    const { events } = new Harness({ kind: "ours" }).push("%begin 1 2 1", "a\r", "%end 1 2 1");
    expect(events).toEqual(["block 2 client ok", "  | a‹0d›"]);
  });
});

describe("a block", () => {
  test("asks for its shape once, when it replies to a command and when it begins", () => {
    const asked: string[] = [];
    const log = new EventLog();
    const parser = new ControlParser({
      output: (...args) => log.output(...args),
      expect: () => {
        asked.push("expect");
        return undefined;
      },
      block: (block) => asked.push(`block ${block.number}`),
      notification: (notification) => log.notification(notification),
    });
    parser.push(Buffer.from("%begin 1 1 0\n%end 1 1 0\n%begin 1 2 1\n%begin 1 3 1\n%end 1 2 1\n"));
    expect(asked).toEqual(["block 1", "expect", "block 2"]);
  });

  test("ends only at its own guard", () => {
    const body = ["%end 1 3 1", "%end 2 2 1", "%end 1 2 0", "%begin 1 2 1", "%output %1 x", "%exit"];
    const { events } = new Harness({ kind: "ours" }).push("%begin 1 2 1", ...body, "%error 1 2 1", "%output %1 y");
    expect(events).toEqual(["block 2 client failed", ...body.map((line) => `  | ${line}`), "output %1 y"]);
  });

  test("that can have no body delivers what begins with % at once, and keeps the rest", () => {
    const harness = new Harness({ kind: "none" }).push("%begin 1 2 1", "%pause %1", "%output %1 x", "text");
    expect(harness.events).toEqual(['pause pane="%1"', "output %1 x"]);
    expect(harness.push("%end 1 2 1").events.slice(2)).toEqual(["block 2 client ok", "  | text"]);
  });

  test("hands out a copy of its body", () => {
    const { log, parser } = new Harness({ kind: "ours" }, { kind: "ours" });
    parser.push(Buffer.from("%begin 1 2 1\nfirst\n%end 1 2 1\n%begin 1 3 1\nother\n%end 1 3 1\n"));
    expect(log.blocks.map(({ body }) => Buffer.from(body).toString())).toEqual(["first\n", "other\n"]);
  });

  test("releases what it held", () => {
    const { parser } = new Harness({ kind: "ours" }).push("%begin 1 2 1", "four");
    expect(parser.heldBytes).toBe(5);
    parser.push(Buffer.from("%end 1 2"));
    expect(parser.heldBytes).toBe(13);
    parser.push(Buffer.from(" 1\n"));
    expect(parser.heldBytes).toBe(0);
  });
});

describe("a foreign block", () => {
  const end = ["%begin 1 4 1", `${CLOSING} the trailer`, "%end 1 4 1"];

  test("ends at the last own guard before the nonce's block", () => {
    const { events } = new Harness(FOREIGN).push(
      "%begin 1 2 1",
      "%end 1 2 1",
      "a",
      "%error 1 2 1",
      "%end 1 2 1",
      ...end,
    );
    expect(events).toEqual(
      [
        ["block 2 client ok"],
        ["%end 1 2 1", "a", "%error 1 2 1"].map((line) => `  | ${line}`),
        ["  + the trailer"],
      ].flat(),
    );
  });

  test("that fails says so", () => {
    const { events, log } = new Harness(FOREIGN).push("%begin 1 2 1", "can't find pane", "%error 1 2 1", ...end);
    expect([events[0], log.blocks[0]?.lastNumber]).toEqual(["block 2 client failed", 4]);
  });

  test("is followed by what came between the two, hooks' blocks too", () => {
    const between = ["%output %1 x", "%begin 1 3 0", "%exit", "%end 1 3 0", "%window-add @1"];
    const { events } = new Harness(FOREIGN).push("%begin 1 2 1", "a", "%end 1 2 1", ...between, ...end, "%output %1 y");
    expect(events).toEqual(
      [
        ["block 2 client ok", "  | a", "  + the trailer", "output %1 x", "block 3 hook ok", "  | %exit"],
        ['window-add window="@1" linked=true', "output %1 y"],
      ].flat(),
    );
  });

  test("whose %exit came between the two ends the stream there", () => {
    const { events } = new Harness(FOREIGN).push(
      "%begin 1 2 1",
      "%end 1 2 1",
      "%exit",
      "%pause %1",
      ...end,
      "%pause %1",
    );
    expect(events).toEqual(["block 2 client ok", "  + the trailer", "exit reason=undefined"]);
  });

  test.each([
    ["the closing word without a block of its own", ["%end 1 2 1", CLOSING]],
    ["the closing word in a hook's block", ["%end 1 2 1", "%begin 1 3 0", CLOSING]],
    ["the closing word before any end", ["%begin 1 3 1", CLOSING]],
    ["the closing word one line late", ["%end 1 2 1", "%begin 1 3 1", "", CLOSING]],
    ["the closing word inside a line", ["%end 1 2 1", "%begin 1 3 1", ` ${CLOSING}`]],
    ["half a closing word", ["%end 1 2 1", "%begin 1 3 1", CLOSING.slice(0, -1)]],
    ["a row, which begins with the nonce itself", ["%end 1 2 1", "%begin 1 3 1", `${NONCE}$1`, "%end 1 3 1", "%exit"]],
  ])("does not end at %s", (_what, lines) => {
    const { events } = new Harness(FOREIGN).push("%begin 1 2 1", ...lines, "%end 1 2 1", ...end);
    expect(events).toEqual([
      "block 2 client ok",
      ...lines.map((line) => (line === "" ? "  |" : `  | ${line}`)),
      "  + the trailer",
    ]);
  });

  test.each(["%error 1 4 1", "%end 1 5 1", "text", "%output %1 x"])(
    "whose nonce is followed by %j is no tmux",
    (line) => {
      const harness = new Harness(FOREIGN).push("%begin 1 2 1", "%end 1 2 1", "%begin 1 4 1", CLOSING);
      expect(() => harness.push(line)).toThrow(expect.objectContaining({ code: "PROTOCOL_ERROR" }));
    },
  );
});

describe("limits", () => {
  const row = "r".repeat(999_999);
  const rows = (count: number): readonly string[] => Array.from({ length: count }, () => row);
  const parserOf = (shape: ReplyShape, block: (block: GuardBlock) => void): ControlParser =>
    new ControlParser({ output: () => undefined, notification: () => undefined, expect: () => shape, block });

  test.each<readonly [string, ReplyShape, string]>([
    ["ours", { kind: "ours" }, "text"],
    ["none", { kind: "none" }, "text"],
    ["foreign", FOREIGN, "text"],
    ["foreign, behind what looks like its end", FOREIGN, "%end 1 2 1"],
  ])("a reply over the limit is dropped, and the next one is whole (%s)", (_kind, shape, first) => {
    const harness = new Harness(shape, { kind: "ours" }).push("%begin 1 2 1", first);
    for (const line of rows(40)) {
      harness.push(line);
      expect(harness.parser.heldBytes).toBeLessThanOrEqual(MAX_REPLY_BYTES + MAX_LINE_BYTES);
    }
    harness.push("%end 1 2 1");
    if (shape.kind === "foreign") harness.push("%output %1 x", "%begin 1 3 1", `${CLOSING} t`, "%end 1 3 1");
    harness.push("%begin 1 4 1", "small", "%end 1 4 1");
    const tail = shape.kind === "foreign" ? ["  + t", "output %1 x"] : [];
    expect(harness.events).toEqual(["block 2 client ok overflowed", ...tail, "block 4 client ok", "  | small"]);
    expect(harness.log.blocks[0]?.body).toHaveLength(0);
  });

  test("a large reply leaves no buffer of its size behind", () => {
    const bodies: number[] = [];
    const parser = parserOf({ kind: "ours" }, ({ body }) => bodies.push(body.length));
    const held = heldBy(() => parser.push(Buffer.from(`%begin 1 2 1\n${`${row}\n`.repeat(10)}%end 1 2 1\n`)));
    expect([bodies, held < 5_000_000, parser.heldBytes]).toEqual([[10_000_000], true, 0]);
  });

  test("a reply of exactly the limit is whole", () => {
    const bodies: number[] = [];
    const parser = parserOf({ kind: "ours" }, ({ body, overflowed }) => bodies.push(overflowed ? -1 : body.length));
    for (const bytes of [MAX_REPLY_BYTES, MAX_REPLY_BYTES + 1]) {
      const body = "x\n".padStart(bytes, `${row}\n`);
      parser.push(Buffer.from(`%begin 1 2 1\n${body}%end 1 2 1\n`));
    }
    expect(bodies).toEqual([MAX_REPLY_BYTES, -1]);
  });

  test("a foreign frame still ends when any of its lines meets the limit", () => {
    const body = Buffer.from(`%begin 1 2 1\n${"r".repeat(99)}\n`.padEnd(MAX_REPLY_BYTES - 200, `${row}\n`));
    const frame = [
      "%end 1 2 1",
      "%output %1 x",
      "%window-add @1",
      "%begin 1 3 1",
      `${CLOSING} t`,
      "%end 1 3 1",
      "%pause %1",
    ];
    // Room left for exactly the first lines of the frame, and for one byte less.
    const ends = frame.map((_line, index) => frame.slice(0, index).join("\n").length + Math.min(1, index));
    for (const spare of ends.flatMap((end) => (end === 0 ? [0] : [end - 1, end]))) {
      const seen: string[] = [];
      const parser = new ControlParser({
        output: () => seen.push("output"),
        expect: () => FOREIGN,
        block: ({ trailer }) => seen.push(`block ${trailer}`),
        notification: ({ kind }) => seen.push(kind),
      });
      parser.push(body);
      const left = MAX_REPLY_BYTES - parser.heldBytes;
      parser.push(Buffer.from(`${"x".repeat(left - 1 - spare)}\n${frame.join("\n")}\n`));
      expect({ spare, seen }).toEqual({ spare, seen: ["block t", "output", "window-add", "pause"] });
    }
  });

  test.each<readonly [string, ReplyShape]>([
    ["ours", { kind: "ours" }],
    ["foreign", FOREIGN],
  ])("a line over the limit costs the reply it stands in (%s)", (_kind, shape) => {
    const harness = new Harness(shape).push("%begin 1 2 1", "a", "x".repeat(MAX_LINE_BYTES + 1), "b", "%end 1 2 1");
    if (shape.kind === "foreign") harness.push("%begin 1 3 1", CLOSING, "%end 1 3 1");
    expect(harness.push("%output %1 y").events).toEqual(["block 2 client ok overflowed", "output %1 y"]);
  });

  test.each([
    ["outside a block", []],
    ["in a block without a body", ["%begin 1 2 1"]],
  ])("a line over the limit %s is no tmux", (_where, lines) => {
    const harness = new Harness({ kind: "none" }).push(...lines);
    expect(() => harness.push(`%output %1 ${"x".repeat(MAX_LINE_BYTES)}`)).toThrow(
      expect.objectContaining({ code: "PROTOCOL_ERROR" }),
    );
  });
});
