/** What is typed, and believed, by what the host says of the process that reads: at work, told to end, new, gone. */
import { uptime } from "node:os";
import { describe, expect, test } from "vitest";
import { DeliveryEngine } from "../../../../../daemon/delivery/deliveryEngine.ts";
import { PaneReader } from "../../../../../daemon/delivery/pane/paneReader.ts";
import { PaneWatch } from "../../../../../daemon/delivery/pane/paneWatch.ts";
import type { InputOptions } from "../../../../../daemon/tmux/io.ts";
import { AppError } from "../../../../../protocol/errors.ts";
import { BoxPane, inFront, submit } from "../../../../support/agents/boxPane.ts";
import { FakePane } from "../../../../support/agents/fakePane.ts";

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
  test.each<[string, (program: Program, nowMs: number) => unknown, RegExp]>([
    ["it stays told", () => undefined, /about to exit/],
    ["it ends", ({ stat }, nowMs) => nowMs === 300 && (stat.state = "Z"), /no longer reads/],
  ])("is typed nothing when %s", async (_what, then, message) => {
    const { pane, program } = claude();
    program.signals.pending = TERM;
    const work = pane.during(submit(pane), (nowMs) => void then(program, nowMs));
    await expect(work).rejects.toThrow(message);
    const error = await work.catch((thrown: unknown) => thrown as AppError);
    expect(error).toEqual(expect.objectContaining({ details: { reason: "program_changed", pane: "%1" } }));
    expect(pane.typed).toEqual([]);
  });

  test("between the text and Enter is not entered to, and it is told that the text was written", async () => {
    const { pane, program } = claude();
    const work = pane.during(submit(pane), (nowMs) => nowMs === 20 && (program.stat.state = "Z"));
    await expect(work).rejects.toMatchObject({ details: { reason: "program_changed", textWritten: true } });
    expect(pane.enters).toEqual([]);
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

  test("another program in its place is given no Enter, and it is told that the text was written", async () => {
    const { pane } = claude();
    const input = pane.server.input.bind(pane.server);
    pane.server.input = async (id, parts, options) => {
      if (pane.typed.length === 0) return input(id, parts, options);
      const [front] = pane.foreground.processes!;
      pane.foreground = { ...pane.foreground, processes: [{ ...front!, start: "200" }] };
      throw new AppError("INCONSISTENT_STATE", "changed");
    };
    await expect(pane.during(submit(pane))).rejects.toMatchObject({
      details: { reason: "program_changed", textWritten: true },
    });
    expect(pane.enters).toEqual([]);
  });

  test("a process that the caller means is the only one that is typed to", async () => {
    const { pane } = claude();
    const process = { pid: 99, start: "1", executable: "claude" };
    await expect(pane.during(submit(pane, { addressee: { process } }))).rejects.toMatchObject({
      message: expect.stringContaining("a different program now reads") as string,
    });
    expect(pane.typed).toEqual([]);
  });

  test("a pane whose input somebody has turned off is not tried again", async () => {
    const { pane } = claude();
    const conditions = refusing(pane, { reason: "input_off" });
    await expect(pane.during(submit(pane))).rejects.toMatchObject({ details: { reason: "input_off" } });
    expect(conditions).toHaveLength(1);
  });
});

describe("after Enter", () => {
  /** What the host says so long after Enter, of a program that shows the text above its box, or has missed it. */
  type Says = (program: Program, sinceMs: number) => unknown;
  const read =
    (fromMs: number): Says =>
    (program, sinceMs) =>
      (program.bytesRead = sinceMs < fromMs ? 10 : 11);
  const atWork =
    (untilMs: number): Says =>
    (program, sinceMs) =>
      (program.isRunning = sinceMs >= 0 && sinceMs < untilMs);
  const told =
    (untilMs: number): Says =>
    ({ signals }, sinceMs) =>
      (signals.pending = sinceMs >= 10 && sinceMs < untilMs ? TERM : 0n);

  test.each<[string, Says, number, string]>([
    ["a program that nothing is said of is believed", () => undefined, 100, "submitted"],
    ["one that reads it late is believed then", read(500), 500, "submitted"],
    ["one that does not read it is not believed", read(Infinity), 2_000, "echoed_unconfirmed"],
    ["one at work is believed when it waits again", atWork(300), 300, "submitted"],
    ["one that is never idle is believed", atWork(Infinity), 600, "submitted"],
    ["one that handles what could end it is believed then", told(500), 500, "submitted"],
    ["one that is still told to end is not believed", told(Infinity), 2_000, "echoed_unconfirmed"],
    [
      "one that gives up its handler is believed once it would have ended",
      ({ signals }, sinceMs) => sinceMs === 10 && (signals.caught = 0n),
      2_000,
      "submitted",
    ],
    [
      "one that ends is not believed",
      ({ stat }, sinceMs) => sinceMs === 50 && (stat.state = "Z"),
      50,
      "echoed_unconfirmed",
    ],
  ])("%s", async (_what, says, tookMs, outcome) => {
    const { pane, program } = claude();
    says(program, -1);
    const result = await pane.during(submit(pane), (nowMs) =>
      says(program, nowMs - (pane.enters[0]?.atMs ?? Infinity)),
    );
    expect(result).toMatchObject({ outcome, enterPresses: 1 });
    const reallyMs = pane.clock.nowMs() - pane.enters[0]!.atMs;
    expect(reallyMs >= tookMs && reallyMs < tookMs + 70, `${reallyMs} ms`).toBe(true);
  });

  test.each<[string, (program: Program) => unknown]>([
    ["ends", ({ stat }) => (stat.state = "Z")],
    ["is told to end", ({ signals }) => (signals.pending = TERM)],
  ])("one that %s while the last capture is taken is not believed", async (_what, act) => {
    const { pane, program } = claude();
    let captures = 0;
    pane.afterCapture = () => pane.enters.length > 0 && (captures += 1) === 2 && void act(program);
    expect(await pane.during(submit(pane))).toMatchObject({ outcome: "echoed_unconfirmed" });
    expect(captures).toBe(2);
  });

  test.each<[string, Says, number | undefined]>([
    ["that was read at once is pressed again after the time that one takes", read(0), 450],
    ["that was read late is pressed again a while after that", read(600), 900],
    ["that is not read is not pressed again", read(Infinity), undefined],
    ["of a program at work is pressed again once it waits for a key", atWork(1_000), 1_000],
    ["of one that is never idle is pressed again in the end", atWork(Infinity), 2_100],
  ])("one %s, if the text still stands there", async (_what, says, againMs) => {
    const { pane, program } = claude();
    pane.enter = (text) => (pane.box = text);
    says(program, -1);
    await pane.during(submit(pane), (nowMs) => says(program, nowMs - (pane.enters[0]?.atMs ?? Infinity)));
    const [first, second] = pane.enters;
    if (againMs === undefined) {
      expect(pane.enters).toHaveLength(1);
      expect(pane.clock.nowMs() - first!.atMs).toBeGreaterThanOrEqual(5_000);
      return;
    }
    const tookMs = second!.atMs - first!.atMs;
    expect(tookMs >= againMs && tookMs < againMs + 60, `${tookMs} ms`).toBe(true);
  });
});

test("who took a prompt is told with the process", async () => {
  const { pane } = claude();
  const taken: unknown[] = [];
  const { readiness, clock, server } = pane;
  const onTaken = ({ process }: { process: unknown }): unknown => taken.push(process);
  const delivery = new DeliveryEngine({ readiness, clock, nowUnixMs: () => 0, onTaken });
  await pane.during(delivery.submit({ server, pane: pane.pane, text: "fix it" }));
  expect(taken).toMatchObject([{ pid: 20, start: "100", executable: "claude" }]);
});

test("a line editor that gives its terminal back while a command runs is no program that ends", async () => {
  const pane = new FakePane("generic");
  inFront(pane, "cat");
  pane.draw(["> "], { col: 2, row: 0 });
  pane.answer = ({ paste }) => {
    if (paste === undefined) return pane.become("busy");
    pane.draw([`> ${paste}`], { col: 8, row: 0 });
    pane.say("\u001b[?2004l");
  };
  expect(await pane.during(submit(pane, { profile: "generic" }))).toMatchObject({ outcome: "submitted" });
});

describe("a program that has just started", () => {
  /** Ten seconds ago, so that what the pane shows is its own. */
  const recently = (): string => String(Math.floor((uptime() - 10) * 100));
  const starting = (profile: "claude" | "pi", state: "starting" | "unknown") => {
    const pane = new BoxPane(profile);
    inFront(pane, profile, recently());
    pane.become(state);
    return pane;
  };

  test.each(["starting", "unknown"] as const)("and is %s is waited for", async (state) => {
    const pane = starting("claude", state);
    const work = submit(pane, { timeoutMs: 9_000 });
    expect(await pane.during(work, (nowMs) => nowMs === 7_000 && pane.become("idle"))).toMatchObject({
      outcome: "submitted",
    });
    expect(atMs(pane)[0]).toBeGreaterThanOrEqual(7_000);
  });

  test("is waited for as long as the caller waits", async () => {
    const pane = starting("claude", "starting");
    await expect(pane.during(submit(pane, { timeoutMs: 700 }))).rejects.toMatchObject({
      details: { state: "starting" },
    });
    expect(pane.clock.nowMs()).toBeGreaterThanOrEqual(700);
    expect(pane.typed).toEqual([]);
  });

  test("and whose state is unknown is typed to for a caller that says so", async () => {
    const pane = starting("claude", "unknown");
    await pane.during(submit(pane, { whileUnknown: "type" }));
    expect(atMs(pane)[0]).toBeLessThan(50);
  });

  test.each([
    // The start is told when the test runs, which may be seconds after the file was loaded.
    ["for as long as it is new", recently, 7_000],
    ["for as long as a start takes, if it is old", () => undefined, 5_000],
  ])("and does not ask for pastes in brackets yet is waited for %s", async (_what, start, untilMs) => {
    const pane = new BoxPane("claude");
    inFront(pane, "claude", start());
    pane.say("\u001b[?2004l");
    const work = submit(pane, { timeoutMs: 7_000 });
    await expect(pane.during(work)).rejects.toMatchObject({
      message: expect.stringContaining("accepts no paste") as string,
    });
    expect(pane.clock.nowMs()).toBe(untilMs);
    expect(pane.typed).toEqual([]);
  });

  test("and has printed nothing is waited for, for the screen is its predecessor's", async () => {
    const pane = new BoxPane("claude");
    pane.clock.advanceMs(5_000);
    inFront(pane, "claude", String(Math.floor((uptime() - 1) * 100)));
    const work = pane.during(submit(pane), (nowMs) => nowMs === 8_000 && pane.show());
    expect(await work).toMatchObject({ outcome: "submitted" });
    expect(atMs(pane)[0]).toBeGreaterThanOrEqual(8_000);
    // Where it is not known when it printed last.
    const silent = new FakePane("claude");
    silent.clock.advanceMs(5_000);
    [silent.lines, silent.cursor] = [pane.lines, pane.cursor];
    inFront(silent, "claude", String(Math.floor((uptime() - 1) * 100)));
    await silent.during(submit(silent));
    expect(silent.typed[0]!.atMs).toBeLessThan(5_100);
    const older = new BoxPane("claude");
    older.clock.advanceMs(5_000);
    inFront(older, "claude", recently());
    await older.during(submit(older));
    expect(atMs(older)[0]).toBeLessThan(5_100);
  });

  test("and has drawn no box yet is waited for, though its title says that it is ready", async () => {
    const pane = new BoxPane("claude");
    inFront(pane, "claude", recently());
    pane.draw(["starting"]);
    expect(await pane.during(submit(pane), (nowMs) => nowMs === 3_000 && pane.show())).toMatchObject({
      outcome: "submitted",
    });
    expect(atMs(pane)[0]).toBeGreaterThanOrEqual(3_000);
    const late = new BoxPane("claude");
    inFront(late, "claude", recently());
    late.draw(["starting"]);
    await expect(late.during(submit(late, { timeoutMs: 900 }))).rejects.toMatchObject({
      details: { state: "starting" },
    });
    expect(late.typed).toEqual([]);
  });
});

describe("a program that says by its title when it has started", () => {
  const TITLE = "π - project";
  const typedAtMs = async (pane: BoxPane, everyMs?: (nowMs: number) => unknown): Promise<number> => {
    await pane.during(submit(pane, { timeoutMs: 20_000 }), (nowMs) => void everyMs?.(nowMs));
    return atMs(pane)[0]!;
  };
  const titled = (pane: BoxPane): unknown =>
    Object.assign(pane.server, { describePane: async () => ({ title: TITLE }) });

  test.each<[string, (pane: BoxPane) => unknown, number]>([
    ["has started if its pane has that title", titled, 0],
    ["has started if output that may have said so has left the ring", (pane) => pane.say("x".repeat(70_000)), 0],
    ["is waited for as long as a start takes", () => undefined, 5_000],
    [
      "is waited for as long when it is new, though its predecessor has left the title",
      (pane) => (titled(pane), inFront(pane, "pi", String(Math.floor((uptime() - 10) * 100)))),
      5_000,
    ],
  ])("%s", async (_what, given, fromMs) => {
    const pane = new BoxPane("pi");
    given(pane);
    pane.show();
    const typedMs = await typedAtMs(pane);
    expect(typedMs >= fromMs && typedMs < fromMs + 50, `${typedMs} ms`).toBe(true);
  });

  test.each<[string, (pane: BoxPane) => unknown]>([
    ["in its output, where tmux's reply is older", () => undefined],
    [
      "in its output, where it is new and its predecessor had said the same",
      (pane) => {
        pane.say(`\u001b]2;${TITLE}\u0007\u001b[?2004l\u001b[?2004h`);
        inFront(pane, "pi", String(Math.floor((uptime() - 10) * 100)));
        titled(pane);
      },
    ],
  ])("has started once it has said so %s", async (_what, given) => {
    const pane = new BoxPane("pi");
    given(pane);
    pane.show();
    const typedMs = await typedAtMs(pane, (nowMs) => {
      if (nowMs === 700) pane.say(`\u001b]2;${TITLE}\u0007`);
    });
    expect(typedMs >= 700 && typedMs < 750, `${typedMs} ms`).toBe(true);
  });

  test("has started at once if it is new and has said so since it began to read", async () => {
    const pane = new BoxPane("pi");
    inFront(pane, "pi", String(Math.floor((uptime() - 10) * 100)));
    titled(pane);
    pane.say(`\u001b]2;${TITLE}\u0007`);
    pane.show();
    expect(await typedAtMs(pane)).toBeLessThan(50);
  });

  test("has started at once if it says so while tmux is asked for its title", async () => {
    const pane = new BoxPane("pi");
    // Where it began to read has left the ring.
    pane.say("x".repeat(70_000));
    pane.show();
    inFront(pane, "pi", String(Math.floor((uptime() - 10) * 100)));
    const describePane = async (): Promise<{ title: string }> => {
      pane.say(`\u001b]2;${TITLE}\u0007`);
      return { title: "" };
    };
    Object.assign(pane.server, { describePane });
    expect(await typedAtMs(pane)).toBeLessThan(50);
  });

  test("has started once tmux knows the title", async () => {
    const pane = new BoxPane("pi");
    const typedMs = await typedAtMs(pane, (nowMs) => {
      if (nowMs !== 700) return;
      Object.assign(pane.server, { findPane: () => ({ exit: undefined, title: TITLE }) });
      pane.say(".");
    });
    expect(typedMs >= 700 && typedMs < 750, `${typedMs} ms`).toBe(true);
  });
});

test("before it is known who is meant, nothing is said of anybody", async () => {
  const { server, pane, readiness, clock, stream: source } = claude().pane;
  using watch = new PaneWatch({ server, pane, readiness, clock });
  const reader = new PaneReader(watch, { source, outputSeq: 0, readers: undefined, isNamed: true, hadAgent: false });
  await reader.addressAgain();
  await reader.untilReads();
  expect(() => reader.requireReading()).not.toThrow();
  expect([reader.condition, reader.process, reader.bytesRead]).toEqual([undefined, undefined, undefined]);
  const { isGone, isEnding, isNew, isRunning, hasPrintedNothing } = reader;
  expect([isGone, isEnding, isNew, isRunning, hasPrintedNothing]).toEqual([false, false, false, false, false]);
});
