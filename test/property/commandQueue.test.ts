/** Pairing: every caller is settled once, with its own replies, whoever gave up, failed or was added meanwhile. */
import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CommandQueue, type Settle } from "../../daemon/connection/commandQueue.ts";
import { AppError } from "../../protocol/errors.ts";
import { fuzz, FUZZ_TIMEOUT_MS } from "../support/tmux/fuzz.ts";

interface Command {
  /** Commands on the line. */
  readonly size: number;
  /** The one that fails, when it is below `size`. */
  readonly failAt: number;
  readonly overflowAt: number;
  /** Added from within this command's own settling. */
  readonly addsAnother: boolean;
}

const command: fc.Arbitrary<Command> = fc.record({
  size: fc.integer({ min: 1, max: 4 }),
  failAt: fc.nat(9),
  overflowAt: fc.nat(20),
  addsAnother: fc.boolean(),
});

type Step = { readonly kind: "add"; readonly command: Command } | { readonly kind: "answer" | "abandonAll" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("add" as const), command }) },
  { weight: 8, arbitrary: fc.constant({ kind: "answer" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "abandonAll" as const }) },
);

/** tmux, and what each caller must be told. */
class Model {
  readonly queue = new CommandQueue();
  readonly settled: string[] = [];
  readonly expected: string[] = [];
  readonly #lines: { readonly id: number; readonly command: Command; done: number; abandoned: boolean }[] = [];
  #ids = 0;

  add(added: Command): void {
    const id = this.#ids++;
    const line = { id, command: added, done: 0, abandoned: false };
    this.#lines.push(line);
    const settle: Settle = (outcome) => {
      if ("error" in outcome) this.settled.push(`${id} ${outcome.error.code} ${outcome.error.message}`);
      else
        this.settled.push(
          `${id} ${outcome.replies.map(({ body, trailer }) => `${Buffer.from(body).toString()}${trailer}`).join()}`,
        );
      if (added.addsAnother) this.add({ size: 1, failAt: 9, overflowAt: 9, addsAnother: false });
    };
    this.queue.add(
      Array.from({ length: added.size }, (_unused, at) => ({ kind: "foreign" as const, nonce: `${id}.${at}` })),
      10,
      settle,
    );
  }

  /** One block from tmux, as its line says. */
  answer(): void {
    const line = this.#lines[0];
    if (line === undefined) return;
    const { id, command: sent, done } = line;
    const ok = done !== sent.failAt;
    const overflowed = ok && done === sent.overflowAt;
    line.done += 1;
    const last = !ok || line.done === sent.size;
    if (last) this.#lines.shift();
    if (!line.abandoned && !ok) this.expected.push(`${id} TMUX_COMMAND_FAILED tmux: no ${id}`);
    else if (!line.abandoned && overflowed) this.expected.push(`${id} RESOURCE_LIMIT`);
    else if (!line.abandoned && last) {
      this.expected.push(`${id} ${Array.from({ length: sent.size }, (_unused, at) => `${id}.${at}+${at}`).join()}`);
    }
    line.abandoned ||= overflowed;
    deepStrictEqual(this.queue.expect(), { kind: "foreign", nonce: `${id}.${done}` });
    this.queue.reply({
      number: 1,
      lastNumber: 1,
      client: true,
      ok,
      body: Buffer.from(ok ? `${id}.${done}` : `no ${id}\n`),
      overflowed,
      trailer: `+${done}`,
    });
  }

  abandonAll(): void {
    for (const line of this.#lines) {
      if (!line.abandoned) this.expected.push(`${line.id} TIMEOUT silent`);
      line.abandoned = true;
    }
    this.queue.abandonAll(new AppError("TIMEOUT", "silent"));
  }
}

const withoutAdvice = (text: string): string => text.replace(/ tmux's reply is larger.*/, "");

test(
  "every caller is settled exactly once with what is its own, and the queue ends empty",
  () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const model = new Model();
        for (const taken of steps) {
          if (taken.kind === "add") model.add(taken.command);
          else if (taken.kind === "answer") model.answer();
          else model.abandonAll();
        }
        while (model.queue.pending > 0) model.answer();
        expect(model.settled.map(withoutAdvice)).toEqual(model.expected);
        expect(model.queue.expect()).toBeUndefined();
      }),
      fuzz(500),
    );
  },
  FUZZ_TIMEOUT_MS,
);
