/** What a wait has not seen is declared, and nothing matches across it. */
import { expect, test } from "vitest";
import type { WaitRequest } from "../../../../daemon/waits/waitRequest.ts";
import { gapWithin } from "../../../../protocol/position.ts";
import { MemorySource } from "../../../support/daemon/memorySource.ts";
import { FakeWaitPane } from "../../../support/tmux/fakeWaitPane.ts";
import { literal, outcomeOf, re2Done, regex, turns, waitBench } from "./waitFixture.ts";

test("nothing matches across a gap, and the gap is declared", async () => {
  const { source, waits } = waitBench();
  const wait = waits.wait(source, literal("DONE"));
  source.write("DO");
  await turns();
  source.gap(10);
  source.write("NE");
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("DONE");
  const result = await wait;
  expect(result.gaps).toEqual([gapWithin("e1", { from: 2, to: 12, reason: "paused" })]);
  expect(result.matched[0]?.from?.outputSeq).toBe(14);
});

test("output that leaves the ring before it is evaluated is a declared gap, for literals and regexes", async () => {
  const { waits } = waitBench();
  const source = new MemorySource({ ringBytes: 1_024 });
  const waiting = [waits.wait(source, literal("DONE")), waits.wait(source, regex("D.NE"))];
  await turns();
  source.write("DONE");
  for (let index = 0; index < 4; index++) source.write(".".repeat(1_000));
  source.write("DONE");
  for (const result of await Promise.all(waiting)) {
    expect(result.gaps).toEqual([gapWithin("e1", { from: 0, to: 2_984, reason: "evicted" })]);
    expect(result.matched[0]?.from?.outputSeq).toBe(4_004);
  }
  expect(waits.metrics().wait_gaps_total).toBe(2);
});

test("text that leaves the backlog before RE2 has judged it is a declared gap", async () => {
  const { source, waits } = waitBench({ regexBacklogBytes: 16_384, regexWindowBytes: 1_024 });
  const wait = waits.wait(source, regex("\\d{3}x"));
  // Written in one turn: no worker is as fast as that.
  for (let index = 0; index < 20; index++) {
    source.write("a line of text\r\n".repeat(500));
    await turns(1);
  }
  source.write("123x\r\n");
  const result = await wait;
  expect(result.matched[0]?.text).toBe("123x");
  for (const gap of result.gaps) expect(gap).toMatchObject({ reason: "evicted" });
});

test("a match that output has pushed out of the backlog before RE2 returned is still the match", async () => {
  const { source, waits } = waitBench({ regexBacklogBytes: 16_384, regexWindowBytes: 1_024 });
  const wait = waits.wait(source, regex("^\\d{3}x$"));
  source.write("before\r\n123x\r\n");
  await turns(1);
  // The worker is still starting.
  for (let index = 0; index < 20; index++) {
    source.write("a line of text\r\n".repeat(500));
    await turns(1);
  }
  const result = await wait;
  const at = (outputSeq: number): object => ({ epoch: "e1", outputSeq });
  expect(result.matched).toEqual([{ predicate: "pattern", text: "123x", from: at(8), to: at(12) }]);
});

test("a required literal keeps nothing that was lost from being declared", async () => {
  const { source, waits } = waitBench({ regexBacklogBytes: 16_384, regexWindowBytes: 1_024 });
  const wait = waits.wait(source, regex("^needle \\pN{3}x$"));
  source.write("a needle\r\n");
  await turns(1);
  for (let index = 0; index < 20; index++) {
    source.write("no needle here\r\n".repeat(500));
    await turns(1);
  }
  await re2Done(waits);
  source.write("needle 123x\r\n");
  const result = await wait;
  expect(result.matched[0]?.text).toBe("needle 123x");
  expect(result.gaps[0]).toMatchObject({ reason: "evicted" });
});

test("what RE2 has not judged yet when a hole comes still counts, and nothing reaches over the hole", async () => {
  const { source, waits } = waitBench();
  const [before, over] = [waits.wait(source, regex("^\\pN{3}x$")), waits.wait(source, regex("12\\pN.*tail"))];
  source.write("123x\r\nhead 124");
  // The worker is still starting.
  await turns(1);
  source.gap(10);
  source.write("tail\r\n");
  expect((await before).matched[0]?.text).toBe("123x");
  await re2Done(waits);
  expect(await outcomeOf(over)).toBe("pending");
});

test("what had left the ring before the wait began is declared as well", async () => {
  const { waits } = waitBench();
  const source = new MemorySource({ ringBytes: 1_024 });
  source.write(".".repeat(2_000));
  source.write("DONE");
  const from = { kind: "position", position: { epoch: source.epoch, outputSeq: 5 } } as const;
  const { gaps } = await waits.wait(source, { ...literal("DONE"), from });
  expect(gaps).toEqual([gapWithin("e1", { from: 5, to: source.tailSeq, reason: "evicted" })]);
});

test.each([
  ["before its echo", []],
  ["in the middle of its echo", ["ma"]],
])("what is missing after typing, %s, is declared", async (_where, output) => {
  const { source, waits } = waitBench();
  const wait = waits.wait(source, { ...literal("DONE"), excludeEcho: Buffer.from("make\r") });
  for (const chunk of output) source.write(chunk);
  await turns();
  source.gap(10);
  source.write("DONE\r\n");
  const { gaps } = await wait;
  expect(gaps.map(({ reason }) => reason)).toEqual(["paused"]);
});

test.each([
  ["judged", "az"],
  ["not judged yet", `${"x".repeat(32_764)}az`],
])("what ends at a gap, %s, is not the end of a line", async (_when, output) => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, regex("x*az$"));
  source.write(output);
  await turns(1);
  source.gap(10);
  await re2Done(waits);
  await turns();
  clock.advanceMs(100);
  expect(await outcomeOf(wait)).toBe("pending");
});

test.each([
  ["its echo", "$ ", "make D\u001b[3Gmake DONE\r\n"],
  ["what a shell's editor draws", "\u001b[?2004h$ ", "make DONE\r\nDONE in a list\r\n\u001b[?2004l\r"],
])("what is missing before the typing shows nothing of %s, and is not declared", async (_what, prompt, drawn) => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  pane.isShell = true;
  source.write("a row\r\nmak");
  source.gap(10);
  source.write(prompt);
  const typed = { pane, excludeEcho: Buffer.from("make DONE\r") };
  const { matched, gaps } = await waits.sendAndWait(source, { ...literal("DONE"), ...typed }, async (beforeWrite) => {
    beforeWrite();
    source.write(drawn);
    await turns();
    source.write("DONE\r\n");
  });
  expect([matched[0]?.from?.outputSeq, gaps]).toEqual([source.outputSeq - "DONE\r\n".length, []]);
});

test("a wait declares only what is missing after its start, once", async () => {
  const { waits } = waitBench();
  const source = new MemorySource({ ringBytes: 1_024 });
  source.write(".".repeat(100));
  const wait = waits.wait(source, { ...literal("DONE"), bell: true });
  for (let index = 0; index < 4; index++) source.write(".".repeat(1_000));
  source.gap(5);
  source.gap(5);
  source.write("DONE\u0007");
  const pauses = [4_100, 4_105].map((from) => ({ from, to: from + 5, reason: "paused" }) as const);
  const { gaps } = await wait;
  const lost = [...pauses, { from: 100, to: source.tailSeq, reason: "evicted" }] as const;
  expect(gaps).toEqual(lost.map((gap) => gapWithin("e1", gap)));
});

test("a bell, a title and a gap before a wait's start are not its own, and those at its start are", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  source.gap(5);
  source.write("\u0007\u001b]2;idle\u0007");
  const wait = (start: number, what: WaitRequest): Promise<unknown> => {
    const from = { kind: "position", position: { epoch: source.epoch, outputSeq: start } } as const;
    return outcomeOf(waits.wait(source, { ...what, pane, from }));
  };
  const title = { title: literal("idle").pattern };
  expect(await wait(4, { bell: true })).toMatchObject({ gaps: [{ from: { outputSeq: 4 } }] });
  expect(await wait(5, { bell: true })).toMatchObject({ gaps: [], matched: [{ from: { outputSeq: 5 } }] });
  expect(await wait(6, { bell: true })).toBe("pending");
  expect(await wait(6, title)).toMatchObject({ matched: [{ from: { outputSeq: 6 } }] });
  expect(await wait(7, title)).toBe("pending");
});

test("of gaps without end a wait keeps the first ones, and each is counted once", async () => {
  const { source, waits } = waitBench();
  const wait = waits.wait(source, { ...literal("DONE"), bell: true });
  for (let index = 0; index < 40; index++) {
    source.gap(1);
    source.write(".");
    await turns(1);
  }
  source.write("DONE\u0007");
  const { gaps } = await wait;
  expect(gaps.map(({ from }) => from.outputSeq)).toEqual(Array.from({ length: 32 }, (_, index) => index * 2));
  expect(waits.metrics().wait_gaps_total).toBe(32);
});

test("what is missing in kept output is declared for a bell and a title as well", async () => {
  const { source, waits } = waitBench();
  source.gap(3);
  source.write("text ");
  const outputSeq = source.outputSeq - 1;
  source.gap(5);
  source.write("\u0007");
  const from = { kind: "position", position: { epoch: source.epoch, outputSeq } } as const;
  const { gaps } = await waits.wait(source, { bell: true, from });
  expect(gaps).toEqual([gapWithin("e1", { from: 8, to: 13, reason: "paused" })]);
});

test("a wait that begins within what is missing declares the rest of it, for text, a bell and a title, once", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  source.gap(100_000);
  source.write("\u001b]2;idle\u0007DONE\u0007");
  const title = literal("idle").pattern;
  const from = { kind: "tail", lines: 9 } as const;
  const { gaps } = await waits.wait(source, { ...literal("DONE"), bell: true, title, pane, from });
  const { gaps: ofBell } = await waits.wait(source, { bell: true, from });
  // A tail is searched for backwards, in pieces.
  const begins = source.outputSeq - 65_536;
  expect([gaps, ofBell]).toEqual(
    Array.from({ length: 2 }, () => [gapWithin("e1", { from: begins, to: 100_000, reason: "paused" })]),
  );
});

test.each(["user$ ", "\u001b[?2004huser$ "])(
  "a prompt %j before a gap is not at the end of the output; one behind it is",
  async (before) => {
    const { source, waits, clock } = waitBench();
    source.write(before);
    const wait = waits.wait(source, { prompt: true });
    await turns();
    source.gap(10);
    source.write("Compiling");
    await turns();
    clock.advanceMs(100);
    expect(await outcomeOf(wait)).toBe("pending");
    source.write("\r\ner$ ");
    await turns();
    clock.advanceMs(100);
    expect((await wait).matched).toMatchObject([{ text: "er$ " }]);
  },
);
