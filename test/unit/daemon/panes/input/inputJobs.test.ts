import { describe, expect, test } from "vitest";
import { ByteBudget } from "../../../../../daemon/ops/byteBudget.ts";
import { InputQueue } from "../../../../../daemon/panes/input/inputJobs.ts";
import { costOf, planInput } from "../../../../../daemon/panes/input/inputPlan.ts";
import { typedBytes } from "../../../../../daemon/panes/input/typedBytes.ts";
import { PaneStream } from "../../../../../daemon/panes/paneStream.ts";
import { PaneRegistry } from "../../../../../daemon/servers/paneRegistry.ts";
import type { InputPart } from "../../../../../daemon/tmux/io.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import type { PaneId } from "../../../../../protocol/ids.ts";
import { MAX_INPUT_BYTES, MAX_INPUT_JOBS_PER_PANE, PASTE_PIECE_BYTES } from "../../../../../protocol/limits.ts";
import { quote } from "../../../../../protocol/command/encode.ts";
import { fakeConnection, turn, type FakeTransport } from "../../../../support/tmux/fakeTransport.ts";

const pane = "%7" as PaneId;
const text = (words: string | Uint8Array): InputPart => ({ kind: "text", bytes: Buffer.from(words) });
const paste = (words: string | Uint8Array): InputPart => ({ kind: "paste", bytes: Buffer.from(words) });
const keys = (...names: string[]): InputPart => ({ kind: "keys", keys: names });

const LEAVE = "copy-mod -q -t %7";
/** Ends every line that the queue writes. */
const ASK = 'display-messag -p -t %7 "\\043{pane_input_off}"';

describe("planInput", () => {
  const plan = (...parts: InputPart[]): readonly (readonly string[])[] => {
    let buffers = 0;
    return [
      ...planInput(pane, parts, {
        condition: undefined,
        bufferName: () => `b${(buffers += 1)}`,
        pasteNeedsRaw: () => false,
      }).groups,
    ];
  };

  test("nothing to type still leaves copy mode", () => {
    expect(plan()).toEqual([[LEAVE]]);
    expect(plan(text(""), keys(), paste(""))).toEqual([[LEAVE]]);
  });

  test("text and keys are one line", () => {
    expect(plan(text("ls; é"), keys("Enter", "C-c"))).toEqual([
      [LEAVE, 'send-key -l -t %7 -- "ls\\073 \\303\\251"', 'send-key -t %7 -- "Enter" "C-c"'],
    ]);
  });

  test.each([["a\n"], ["\t"], ["\u007f"], ["\u0085"], [Uint8Array.of(0xc3)], [Uint8Array.of(0)], [Uint8Array.of(255)]])(
    "text %j goes byte by byte",
    (words) => {
      const hex = Array.from(Buffer.from(words), (byte) => ` ${byte.toString(16).padStart(2, "0")}`).join("");
      expect(plan(text(words))).toEqual([[LEAVE, `send-key -H -t %7${hex}`]]);
    },
  );

  test("text up to 1,024 bytes is typed, longer text is pasted", () => {
    expect(plan(text("x".repeat(1_024)))[0]?.[1]).toMatch(/^send-key -l/);
    const long = "x".repeat(1_025);
    expect(plan(text(long))).toEqual([[LEAVE, `set-buffe -b b1 -- "${long}"`, "paste-buffe -d -r -b b1 -t %7"]]);
  });

  test("a paste is bracketed when the program asked for it, and its bytes go as they are", () => {
    expect(plan(paste("a\nb"))).toEqual([[LEAVE, 'set-buffe -b b1 -- "a\\012b"', "paste-buffe -d -r -p -b b1 -t %7"]]);
  });

  test("what a buffer cannot carry goes between the buffers, with what is shorter than two commands", () => {
    const [long, short] = ["A".repeat(1_025), "B".repeat(15)];
    const hex = `${" 42".repeat(15)} 00`;
    expect(plan(text(`${long}\0\0${short}\0${short}A\0${short}`))).toEqual([
      [
        [LEAVE],
        [`set-buffe -b b1 -- "${long}"`, "paste-buffe -d -r -b b1 -t %7"],
        [`send-key -H -t %7 00 00${hex}`],
        [`set-buffe -b b1 -- "${short}A"`, "paste-buffe -d -r -b b1 -t %7"],
        [`send-key -H -t %7 00${" 42".repeat(15)}`],
      ].flat(),
    ]);
  });

  test("keys and hexadecimal bytes are cut into commands, and those into lines", () => {
    const groups = plan(keys(...Array<string>(1_024).fill("Up")), text(Uint8Array.from({ length: 4_000 }, () => 0)));
    const commands = groups.flat();
    expect(commands.filter((command) => command.includes('-- "Up"'))).toHaveLength(32);
    expect(commands.join().split('"Up"')).toHaveLength(1_024 + 1);
    expect(commands.filter((command) => command.includes(" -H "))).toHaveLength(125);
    for (const group of groups) expect(group.join().length).toBeLessThan(2 * PASTE_PIECE_BYTES);
    expect(groups.length).toBeGreaterThan(2);
  });

  test("a long paste is cut into pieces, a line each, and pasted after the last; each leaves copy mode", () => {
    const groups = plan(paste("x".repeat(PASTE_PIECE_BYTES * 2 + 1)), keys("Enter"));
    const piece = "x".repeat(PASTE_PIECE_BYTES);
    expect(groups).toEqual([
      [LEAVE, `set-buffe -b b1 -- "${piece}"`],
      [LEAVE, `set-buffe -a -b b1 -- "${piece}"`],
      [LEAVE, 'set-buffe -a -b b1 -- "x"', "paste-buffe -d -r -p -b b1 -t %7", 'send-key -t %7 -- "Enter"'],
    ]);
  });

  test("an unknown key or too much text is refused before anything is made", () => {
    expect(() => plan(text("typed?"), keys("Enter", "Entre"))).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT", message: "Invalid key token: Entre" }),
    );
    const half = "x".repeat(MAX_INPUT_BYTES / 2);
    expect(plan(text(half), text(half)).length).toBeGreaterThan(1);
    expect(() => plan(text(half), text(half), text("x"))).toThrow(
      expect.objectContaining({ code: "INVALID_ARGUMENT" }),
    );
  });
});

interface Fixture {
  readonly queue: InputQueue;
  readonly transport: FakeTransport;
  readonly log: string[];
  /** Submits and writes down how it ended. */
  readonly submit: (name: string, parts: readonly InputPart[], signal?: AbortSignal) => void;
  /** From now on nothing can be written. */
  readonly fill: () => void;
}

const UNBOUNDED = { maxBytes: Number.POSITIVE_INFINITY, maxBytesEach: Number.POSITIVE_INFINITY };

function fixture(budget = new ByteBudget(UNBOUNDED)): Fixture {
  const { connection, transport } = fakeConnection();
  const log: string[] = [];
  let buffers = 0;
  let isFull = false;
  const queue = new InputQueue({
    pane,
    connection: () => {
      if (isFull) throw new AppError("RESOURCE_LIMIT", "full");
      return connection;
    },
    bufferName: () => `b${(buffers += 1)}`,
    budget,
    onTyped: (parts) => log.push(`typed ${JSON.stringify(Buffer.from(typedBytes(parts)).toString().slice(0, 10))}`),
  });
  const submit: Fixture["submit"] = (name, parts, signal) => {
    queue.submit(parts, { signal, beforeWrite: () => log.push(`${name} begins`) }).then(
      () => log.push(`${name} done`),
      (error: unknown) => {
        const { code, details } = error instanceof AppError ? error : { code: String(error), details: undefined };
        const why = [details?.["delivery"], details?.["reason"]] as (string | undefined)[];
        log.push([name, code, ...why].filter((word) => word !== undefined).join(" "));
      },
    );
  };
  return { queue, transport, log, submit, fill: () => (isFull = true) };
}

/** A job of `groups` lines; each has three commands, the last one four. */
const long = (groups: number): InputPart => paste("x".repeat(PASTE_PIECE_BYTES * groups));

describe("InputQueue", () => {
  test("writes a job as one line, in the order of submission, and resolves when tmux has taken all of it", async () => {
    const { submit, transport, log } = fixture();
    submit("a", [text("one"), keys("Enter")]);
    submit("b", [text("two")]);
    await turn();
    expect(transport.lines).toEqual([
      `${LEAVE} ; send-key -l -t %7 -- "one" ; send-key -t %7 -- "Enter" ; ${ASK}`,
      `${LEAVE} ; send-key -l -t %7 -- "two" ; ${ASK}`,
    ]);
    for (let answered = 0; answered < 3; answered += 1) transport.reply();
    await turn();
    expect(log).toEqual(["a begins", "b begins"]);
    transport.reply();
    await turn();
    expect(log).toEqual(["a begins", "b begins", 'typed "one\\r"', "a done"]);
  });

  test("beforeWrite runs in the turn of the write", () => {
    const { submit, log } = fixture();
    submit("a", [text("one")]);
    expect(log).toEqual(["a begins"]);
  });

  test("a job of many lines has a few under way and holds the FIFO until its last reply", async () => {
    const { submit, transport, log } = fixture();
    submit("first", [text("first")]);
    submit("long", [long(6)]);
    submit("short", [text("after")]);
    await turn();
    for (let answered = 0; answered < 3; answered += 1) transport.reply();
    await turn();
    expect(log.splice(0)).toEqual(["first begins", "long begins", 'typed "first"', "first done"]);
    expect(transport.lines.splice(0, 1)).toHaveLength(1);
    expect(transport.lines).toHaveLength(4);
    for (let answered = 0; answered < 3; answered += 1) transport.reply();
    await turn();
    expect(transport.lines).toHaveLength(5);
    for (let answered = 0; answered < 12; answered += 1) transport.reply();
    await turn();
    expect(transport.lines).toHaveLength(6);
    expect(transport.lines[5]).toContain("paste-buffe");
    for (let answered = 0; answered < 3; answered += 1) transport.reply();
    await turn();
    expect(log).toEqual([]);
    transport.reply();
    await turn();
    expect(log).toEqual(['typed "xxxxxxxxxx"', "short begins", "long done"]);
    expect(transport.lines[6]).toContain('"after"');
  });

  // The latter between the end of a server's last session and its own.
  test.each(["can't find pane: %7\n", "no current target\n"])(
    "%j drops the whole job, the next one is tried",
    async (said) => {
      const { submit, transport, log } = fixture();
      submit("a", [text("one"), keys("Enter")]);
      submit("b", [text("two")]);
      await turn();
      transport.reply(said, false);
      for (let answered = 0; answered < 3; answered += 1) transport.reply();
      await turn();
      expect(log).toEqual(["a begins", "b begins", 'typed "two"', "a NOT_FOUND", "b done"]);
    },
  );

  test("a long job that fails writes no more, deletes its buffer and frees the FIFO", async () => {
    const { submit, transport, log } = fixture();
    submit("long", [long(9)]);
    submit("short", [text("after")]);
    await turn();
    transport.reply("can't find pane: %7\n", false);
    for (let answered = 0; answered < 9; answered += 1) transport.reply();
    await turn();
    expect(log).toEqual(["long begins", "short begins", "long NOT_FOUND"]);
    expect(transport.lines.slice(4)).toEqual([
      "delete-buffe -b b1",
      `${LEAVE} ; send-key -l -t %7 -- "after" ; ${ASK}`,
    ]);
  });

  test("a job that has not begun can be withdrawn; one that has goes on without its caller", async () => {
    const { submit, transport, log } = fixture();
    const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
    third.abort("before");
    submit("long", [long(6)], first.signal);
    submit("waiting", [text("never")], second.signal);
    submit("aborted", [text("never")], third.signal);
    submit("last", [text("last")]);
    first.abort("gone");
    second.abort("gone too");
    await turn();
    expect(log).toEqual(["long begins", "aborted before", "long gone", "waiting gone too"]);
    for (let answered = 0; answered < 19; answered += 1) {
      transport.reply();
      await turn();
    }
    expect(transport.lines.filter((line) => line.includes("never"))).toEqual([]);
    expect(transport.lines).toHaveLength(7);
    expect(transport.lines[6]).toContain('"last"');
  });

  test("a connection that goes leaves what was written indeterminate, and tells nobody that it was typed", async () => {
    const { submit, transport, log } = fixture();
    submit("a", [text("one")]);
    submit("long", [long(6)]);
    await turn();
    transport.drop();
    await turn();
    expect(log.slice(0, 2)).toEqual(["a begins", "long begins"]);
    expect(log.slice(2)).toEqual([
      "a CONNECTION_LOST indeterminate the control client ended",
      "long CONNECTION_LOST indeterminate the control client ended",
    ]);
    const before = transport.lines.length;
    submit("later", [text("two")]);
    await turn();
    // Nothing of it was written: it may be tried again.
    expect(log.slice(4)).toEqual(["later begins", "later CONNECTION_LOST the control client ended"]);
    expect(transport.lines).toHaveLength(before);
  });

  test("a long job that a lost connection cuts short says once that the pane is to be looked at", async () => {
    const { queue, transport } = fixture();
    const cut = queue.submit([long(6)]);
    await turn();
    for (let answered = 0; answered < 3; answered += 1) transport.reply();
    transport.drop();
    await expect(cut).rejects.toMatchObject({
      message: expect.not.stringMatching(/look at the pane.*look at the pane/) as string,
      details: { delivery: "indeterminate" },
    });
  });

  test("a job whose next line cannot be written is indeterminate once a line of it was", async () => {
    const { submit, transport, log, fill } = fixture();
    submit("long", [long(6)]);
    await turn();
    fill();
    for (let answered = 0; answered < 11; answered += 1) transport.reply();
    submit("later", [text("two")]);
    await turn();
    expect(log).toEqual(["long begins"]);
    transport.reply();
    await turn();
    expect(log.slice(1)).toEqual(["later begins", "long RESOURCE_LIMIT indeterminate", "later RESOURCE_LIMIT"]);
  });

  test("a beforeWrite that throws fails its job only, and nothing of it is written", async () => {
    const { queue, submit, transport, log } = fixture();
    const bug = new Error("bug");
    const failing = queue.submit([text("never")], {
      beforeWrite: () => {
        throw bug;
      },
    });
    await expect(failing).rejects.toMatchObject({ code: "INTERNAL_ERROR", cause: bug });
    submit("next", [text("two")]);
    await turn();
    expect(transport.lines).toEqual([`${LEAVE} ; send-key -l -t %7 -- "two" ; ${ASK}`]);
    expect(log).toEqual(["next begins"]);
  });

  test("is bounded", async () => {
    const { queue, submit } = fixture();
    submit("long", [long(6)]);
    for (let waiting = 0; waiting < MAX_INPUT_JOBS_PER_PANE; waiting += 1) submit("waiting", [text("x")]);
    await expect(queue.submit([text("x")])).rejects.toMatchObject({ code: "RESOURCE_LIMIT" });
  });

  test("an invalid job is refused at once and writes nothing", async () => {
    const { queue, transport } = fixture();
    await expect(queue.submit([keys("Entre")])).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await turn();
    expect(transport.lines).toEqual([]);
  });

  test("closing settles what has not begun; what has is settled by tmux", async () => {
    const { queue, submit, transport, log } = fixture();
    submit("long", [long(2)]);
    submit("waiting", [text("x")]);
    queue.close(new AppError("NOT_FOUND", "gone"));
    queue.close(new AppError("NOT_FOUND", "gone"));
    await turn();
    expect(log).toEqual(["long begins", "waiting NOT_FOUND"]);
    for (let answered = 0; answered < 7; answered += 1) transport.reply();
    await turn();
    expect(log.slice(2)).toEqual(['typed "xxxxxxxxxx"', "long done"]);
  });

  test("input that somebody has turned off fails; where something was typed before, it is indeterminate", async () => {
    const { submit, transport, log } = fixture();
    submit("a", [text("one")]);
    await turn();
    transport.reply();
    transport.reply();
    transport.reply("1\n");
    await turn();
    expect(log).toEqual(["a begins", "a INCONSISTENT_STATE input_off"]);
    submit("long", [long(2)]);
    await turn();
    transport.reply();
    transport.reply();
    transport.reply("0\n");
    for (let answered = 0; answered < 3; answered += 1) transport.reply();
    transport.reply("1\n");
    await turn();
    expect(log.slice(2)).toEqual(["long begins", "long INCONSISTENT_STATE indeterminate input_off"]);
  });
});

test("a pane's jobs hold what its budget has, until tmux has taken them, they are withdrawn or the pane goes", async () => {
  const budget = new ByteBudget({ maxBytes: 30_000, maxBytesEach: 20_000 });
  const { queue, submit, transport, log } = fixture(budget);
  const [begun, withdrawn] = [new AbortController(), new AbortController()];
  submit("a", [text("x".repeat(9_000))], begun.signal);
  submit("b", [text("x".repeat(9_000))], withdrawn.signal);
  submit("c", [text("x".repeat(9_000))]);
  await turn();
  expect(log).toEqual(["a begins", "c RESOURCE_LIMIT"]);
  expect(budget.heldBytes).toBe(18_000);
  withdrawn.abort("withdrawn");
  begun.abort("left");
  expect(budget.heldBytes).toBe(9_000);
  // a's two lines: a piece, then the rest of it.
  for (const output of [undefined, undefined, "0\n", undefined, undefined, undefined, "0\n"]) transport.reply(output);
  await turn();
  expect(log.slice(2).toSorted()).toEqual(["a left", "b withdrawn", 'typed "xxxxxxxxxx"']);
  expect(budget.heldBytes).toBe(0);
  submit("d", [text("x".repeat(18_000))]);
  submit("e", [text("x")]);
  expect(budget.heldBytes).toBe(18_001);
  // d has begun: its connection settles it.
  queue.close(new AppError("NOT_FOUND", "gone"));
  expect(budget.heldBytes).toBe(18_000);
});

describe("a job with a condition", () => {
  const ifShell = (...commands: string[]): string[] => [
    `if-shel -F -t %7 ${quote("#{==:#{pane_pid},5}")} ${quote(commands.join(" ; "))} ${quote(MISSING)}`,
    ...commands.map(() => ""),
  ];
  const MISSING = 'has-sessio -t "=tmuxwire pane has changed"';

  test("has it around all that types, keys and line ends inside text too, and a slot for each of their replies", () => {
    const parts = [text("a\n"), keys("Enter"), text("b")];
    const options = { condition: { pid: 5 }, bufferName: () => "b1", pasteNeedsRaw: () => false };
    const typing = ["send-key -H -t %7 61 0a", 'send-key -t %7 -- "Enter"', 'send-key -l -t %7 -- "b"'];
    expect([...planInput(pane, parts, options).groups]).toEqual([[LEAVE, ...ifShell(...typing)]]);
    expect([...planInput(pane, [], options).groups]).toEqual([[LEAVE]]);
  });

  test("writes a group when the one before it has been typed, and none behind one that has not", async () => {
    const { queue, transport } = fixture();
    const parts = [text("x".repeat(PASTE_PIECE_BYTES + 1))];
    const done = queue.submit(parts, { onlyIf: { pid: 5 } });
    void queue.submit([text("after")]);
    await turn();
    expect(transport.lines).toEqual([expect.stringMatching(/^display-messag .* if-shel /)]);
    // Input off or not, copy mode, the condition, one piece.
    for (const output of ["0\n", "", "", ""]) transport.reply(output);
    expect(transport.lines).toHaveLength(2);
    for (const output of ["0\n", "", ""]) transport.reply(output);
    transport.reply("can't find session: tmuxwire pane has changed\n", false);
    await expect(done).rejects.toMatchObject({ code: "INCONSISTENT_STATE", details: { delivery: "indeterminate" } });
    expect(transport.lines.slice(2)).toEqual(["delete-buffe -b b1", expect.stringContaining('"after"')]);
  });
});

describe("what a job comes to", () => {
  test.each([
    ["text", text("x".repeat(MAX_INPUT_BYTES)), MAX_INPUT_BYTES],
    ["line ends", text("\n".repeat(MAX_INPUT_BYTES)), 4 * MAX_INPUT_BYTES],
    ["a NUL behind each letter", text("a\0".repeat(MAX_INPUT_BYTES / 2)), 7 * MAX_INPUT_BYTES],
    ["a NUL behind each 16 letters", text(`${"a".repeat(16)}\0`.repeat(1_000)), 16 * 1_000 + 7 * 1_000],
    ["keys", keys("a", "Enter"), 32],
  ])("of %s", (_what, part, cost) => {
    expect(costOf([part])).toBe(cost);
  });

  test("counts against its pane's share and what all panes of a server hold: one job of hexadecimal bytes in each of two", async () => {
    const { connection } = fakeConnection();
    const panes = new PaneRegistry({
      retainBytes: 1,
      clock: { nowMs: () => 0 },
      connection: () => connection,
      bufferName: () => "b1",
      onListenerError: () => undefined,
      onRevived: () => undefined,
      makeStream: (stream) => new PaneStream(stream),
    });
    const bytes = Buffer.from("a\0".repeat(MAX_INPUT_BYTES / 2));
    const refused: string[] = [];
    for (const [name, to, part] of [
      ["a", "%7", bytes],
      ["a again", "%7", bytes],
      ["a, short", "%7", Buffer.from("ls\n")],
      ["b", "%8", bytes],
      ["c", "%9", bytes],
    ] as const) {
      const submitted = panes.input(to as PaneId).submit([{ kind: "text", bytes: part }]);
      submitted.catch(({ code }: AppError) => refused.push(`${name} ${code}`));
    }
    await turn();
    expect(refused).toEqual(["a again RESOURCE_LIMIT", "c RESOURCE_LIMIT"]);
  });
});
