/** What is typed, and believed, by what the host says of the process that reads: at work, told to end, new, gone. */
import { describe, expect, test } from "vitest";
import type { InputOptions } from "../../../../../daemon/tmux/io.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { BoxPane, inFront, submit } from "../../../../support/agents/boxPane.ts";

const TERM = 1n << 14n;

type Program = ReturnType<typeof inFront>;

function claude(): { readonly pane: BoxPane; readonly program: Program } {
  const pane = new BoxPane("claude");
  return { pane, program: inFront(pane, "claude") };
}

const atMs = ({ typed }: BoxPane): readonly number[] => typed.map((one) => one.atMs);

describe("a program at work", () => {
  test.each([
    [
      "is waited for, and again when it is at work again",
      (nowMs: number) => nowMs < 300 || (nowMs >= 310 && nowMs < 500),
      [300, 500],
    ],
    ["is not waited for longer than 600 ms, once", () => true, [600, 648]],
  ])("%s", async (_what, isAtWork, expected) => {
    const { pane, program } = claude();
    program.isRunning = isAtWork(0);
    await pane.during(submit(pane), (nowMs) => (program.isRunning = isAtWork(nowMs)));
    for (const [index, ms] of atMs(pane).entries()) {
      expect(ms).toBeGreaterThanOrEqual(expected[index]!);
      expect(ms).toBeLessThan(expected[index]! + 10);
    }
    expect(pane.typed).toHaveLength(2);
  });
});

describe("a program that is told to end", () => {
  const refused = (message: RegExp) => ({
    code: "WRONG_STATE",
    message: expect.stringMatching(message) as string,
    details: { reason: "program_changed" },
  });

  test.each<[string, (program: Program, nowMs: number) => unknown, RegExp]>([
    ["it stays told", () => undefined, /about to exit/],
    ["it ends", ({ stat }, nowMs) => nowMs === 300 && (stat.state = "Z"), /no longer reads/],
  ])("is typed nothing when %s", async (_what, then, message) => {
    const { pane, program } = claude();
    program.signals.pending = TERM;
    const work = submit(pane);
    await expect(pane.during(work, (nowMs) => void then(program, nowMs))).rejects.toMatchObject(refused(message));
    expect(pane.typed).toEqual([]);
  });

  test.each<[string, Partial<Program["signals"]>, number]>([
    ["handles the signal and goes on", { pending: TERM }, 300],
    ["has only given up its handler", { caught: 0n }, 2_000],
  ])("and %s is typed to then", async (_what, signals, fromMs) => {
    const { pane, program } = claude();
    const work = submit(pane);
    Object.assign(program.signals, signals);
    const result = await pane.during(work, (nowMs) => nowMs === 300 && (program.signals.pending = 0n));
    expect(result).toMatchObject({ outcome: "submitted", enterPresses: 1 });
    expect(atMs(pane)[0]).toBeGreaterThanOrEqual(fromMs);
    expect(atMs(pane)[0]).toBeLessThan(fromMs + 40);
  });
});

describe("where tmux says that who reads has changed", () => {
  /** The first writes are refused so. */
  function refusing(
    pane: BoxPane,
    details?: Record<string, unknown>,
    command = "claude",
  ): (InputOptions["onlyIf"] | undefined)[] {
    const conditions: (InputOptions["onlyIf"] | undefined)[] = [];
    const input = pane.server.input.bind(pane.server);
    pane.server.input = async (id, parts, options) => {
      conditions.push(options?.onlyIf);
      pane.foreground = { ...pane.foreground, command };
      if (conditions.length === 1) throw new AppError("INCONSISTENT_STATE", "changed", { details });
      return input(id, parts, options);
    };
    return conditions;
  }

  test("a program that has renamed itself is typed to, whatever its name from then on", async () => {
    const { pane } = claude();
    const conditions = refusing(pane, undefined, "2.1.0");
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "submitted" });
    expect(conditions.map((one) => one?.command)).toEqual(["claude", undefined, undefined]);
  });

  test("the same program is looked at again, and typed to", async () => {
    const { pane } = claude();
    const conditions = refusing(pane);
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "submitted" });
    expect(conditions.map((one) => one?.command)).toEqual(["claude", "claude", "claude"]);
  });

  test("a pane whose input somebody has turned off is not tried again", async () => {
    const { pane } = claude();
    const conditions = refusing(pane, { reason: "input_off" });
    await expect(pane.during(submit(pane))).rejects.toMatchObject({ details: { reason: "input_off" } });
    expect(conditions).toHaveLength(1);
  });
});
