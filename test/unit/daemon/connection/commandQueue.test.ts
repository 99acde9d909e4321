import { describe, expect, test } from "vitest";
import { CommandQueue, ignoreRefusal, isRefusal, type Settle } from "../../../../daemon/connection/commandQueue.ts";
import type { GuardBlock, ReplyShape } from "../../../../protocol/control/parser.ts";
import { AppError } from "../../../../protocol/errors.ts";
import { MAX_PENDING_COMMAND_BYTES, MAX_PENDING_COMMANDS } from "../../../../protocol/limits.ts";
import { heldBy } from "../../../support/daemon/heapBytes.ts";

const OURS: ReplyShape = { kind: "ours" };
const NONE: ReplyShape = { kind: "none" };

const block = (body: string, fields: Partial<GuardBlock> = {}): GuardBlock => ({
  number: 1,
  lastNumber: 1,
  client: true,
  ok: true,
  overflowed: false,
  trailer: "",
  body: Buffer.from(body),
  ...fields,
});

function recorder(): { readonly seen: string[]; readonly settle: (name: string) => Settle } {
  const seen: string[] = [];
  return {
    seen,
    settle: (name) => (outcome) => {
      if ("error" in outcome) seen.push(`${name} ${outcome.error.code}`);
      else
        seen.push(
          `${name} ${outcome.replies.map(({ body, trailer }) => Buffer.from(body).toString() + trailer).join("|")}`,
        );
    },
  };
}

describe("CommandQueue", () => {
  test("tmux's own words are in the error, cut, as UTF-8", () => {
    const queue = new CommandQueue();
    const errors: AppError[] = [];
    const keep: Settle = (outcome) => {
      if ("error" in outcome) errors.push(outcome.error);
    };
    for (let added = 0; added < 3; added += 1) queue.add([OURS], 1, keep);
    queue.reply(block("can't find session: é\n", { ok: false }));
    queue.reply(block("x".repeat(5_000), { ok: false }));
    queue.reply(block(`${"é".repeat(298)}😀!`, { ok: false }));
    expect(errors[0]?.message).toBe("tmux: can't find session: é");
    expect(errors[0]?.details).toEqual({ tmux: "can't find session: é" });
    expect(errors[1]?.message).toBe(`tmux: ${"x".repeat(299)}…`);
    expect(errors[2]?.message).toBe(`tmux: ${"é".repeat(298)}…`);
  });

  test("a reply without a command is a lost pairing", () => {
    expect(() => new CommandQueue().reply(block(""))).toThrow(expect.objectContaining({ code: "PROTOCOL_ERROR" }));
  });

  test("is bounded in commands; what has its reply makes room", () => {
    const queue = new CommandQueue();
    for (let added = 0; added < MAX_PENDING_COMMANDS; added += 1) queue.add([OURS], 1, () => undefined);
    const refused = (): void => queue.add([OURS], 1, () => undefined);
    const details = { pending: MAX_PENDING_COMMANDS, pendingBytes: MAX_PENDING_COMMANDS };
    expect(refused).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT", details }));
    queue.reply(block(""));
    refused();
    expect(queue.pending).toBe(MAX_PENDING_COMMANDS);
  });

  test("is bounded in bytes; what has its reply or failed makes room", () => {
    const queue = new CommandQueue();
    const half = MAX_PENDING_COMMAND_BYTES / 2;
    const add = (): void => queue.add([OURS], half, () => undefined);
    add();
    add();
    expect(() => queue.add([OURS], 1, () => undefined)).toThrow(expect.objectContaining({ code: "RESOURCE_LIMIT" }));
    queue.reply(block(""));
    add();
    queue.reply(block("no", { ok: false }));
    add();
    queue.failAll(new AppError("CONNECTION_LOST", "gone"));
    add();
    add();
    expect(queue.pending).toBe(2);
  });

  test("failAll settles everyone once and empties the queue", () => {
    const queue = new CommandQueue();
    const { seen, settle } = recorder();
    queue.add([OURS], 1, settle("replied"));
    queue.add([OURS, OURS], 1, settle("begun"));
    queue.add([OURS], 1, settle("waiting"));
    for (const body of ["a", "b"]) queue.reply(block(body));
    queue.failAll(new AppError("CONNECTION_LOST", "gone"));
    queue.failAll(new AppError("CONNECTION_LOST", "gone"));
    expect(seen).toEqual(["replied a", "begun CONNECTION_LOST", "waiting CONNECTION_LOST"]);
    expect(queue.pending).toBe(0);
  });

  test("a caller may end the connection from within its settling", () => {
    const queue = new CommandQueue();
    const { seen, settle } = recorder();
    queue.add([OURS], 1, (outcome) => {
      settle("first")(outcome);
      queue.failAll(new AppError("CONNECTION_LOST", "gone"));
    });
    queue.add([OURS], 1, settle("second"));
    queue.abandonAll(new AppError("TIMEOUT", "silent"));
    expect(seen).toEqual(["first TIMEOUT", "second CONNECTION_LOST"]);
    expect(queue.pending).toBe(0);
  });

  test("a reply is the caller's alone once it is settled", () => {
    const queue = new CommandQueue();
    const held = heldBy(() => {
      for (let added = 0; added < 30; added += 1) queue.add([OURS], 10, () => undefined);
      for (let reply = 0; reply < 29; reply += 1) queue.reply(block("x".repeat(100_000)));
    });
    expect(queue.pending).toBe(1);
    expect(held).toBeLessThan(500_000);
  });

  test.each([1, 5])("replies leave nothing behind, %i at a time", (count) => {
    const queue = new CommandQueue();
    let answered = 0;
    const settle: Settle = () => (answered += 1);
    const held = heldBy(() => {
      for (let round = 0; round < 100_000; round += 1) {
        for (let added = 0; added < count; added += 1) queue.add([added === 0 ? OURS : NONE], 10, settle);
        for (let reply = 0; reply < count; reply += 1) {
          if (queue.expect() !== (reply === 0 ? OURS : NONE)) throw new Error("another command's shape");
          queue.reply(block(""));
        }
      }
    });
    expect({ answered, pending: queue.pending }).toEqual({ answered: 100_000 * count, pending: 0 });
    expect(held).toBeLessThan(500_000);
  });
});

test.each([
  [new AppError("TMUX_COMMAND_FAILED", "tmux: no such pane"), true],
  [new AppError("CONNECTION_LOST", "gone"), false],
  [Object.assign(new Error("no such file"), { code: "TMUX_COMMAND_FAILED" }), false],
])("only what tmux refuses is ignored: %s, %j", (error, isIgnored) => {
  expect(isRefusal(error)).toBe(isIgnored);
  const ignore = (): void => ignoreRefusal(error);
  if (isIgnored) expect(ignore).not.toThrow();
  else expect(ignore).toThrow(error);
});
