/** Waits that ask the pane for more than its output: what tmux tells late, what moves and what does not. */
import { expect, test } from "vitest";
import { paneIdOf } from "../../../../../protocol/ids.ts";
import { eventually } from "../../../../support/clock/eventually.ts";
import { FakeWaitPane } from "../../../../support/tmux/fakeWaitPane.ts";
import { errorOf, outcomeOf, turns, waitBench } from "../waitFixture.ts";

const idle = { kind: "literal", text: "idle" } as const;
const send = (beforeWrite: () => void): Promise<void> => Promise.resolve(beforeWrite());

test("a title of before the input does not count, however late tmux tells of it; the same one set again does", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  pane.title = "idle";
  const wait = waits.sendAndWait(source, { title: idle, pane }, send);
  await turns();
  pane.tellTitle("idle");
  pane.tellTitle("idle", paneIdOf(2));
  expect(await outcomeOf(wait)).toBe("pending");
  pane.tellTitle("busy");
  pane.tellTitle("idle");
  expect((await wait).matched).toEqual([{ predicate: "title", text: "idle" }]);
  await turns(1);
  expect([pane.watchers, source.listeners]).toEqual([0, 0]);
  const again = waits.sendAndWait(source, { title: idle, pane }, send);
  await turns();
  source.write("\u001b]2;id");
  source.write("le\u001b\\");
  const { matched } = await again;
  expect(matched).toEqual([
    { predicate: "title", text: "idle", from: { epoch: "e1", outputSeq: 0 }, to: { epoch: "e1", outputSeq: 8 } },
  ]);
});

test("the title that a pane has when a wait begins counts, and what else the program tells is no title", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  pane.title = "busy";
  const wait = waits.wait(source, { title: idle, pane });
  await turns();
  source.write("\u001b]133;A\u0007\u001b[?2004h$ ");
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("\u001b]2;idle\u0007");
  expect((await wait).matched).toMatchObject([{ text: "idle" }]);
  pane.title = "idle";
  expect((await waits.wait(source, { title: idle, pane })).matched).toEqual([{ predicate: "title", text: "idle" }]);
});

test("a title that was being set when something was typed does not count", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  source.write("\u001b]2;id");
  const wait = waits.sendAndWait(source, { title: idle, pane }, send);
  await turns();
  source.write("le\u0007");
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("\u001b]2;idle\u0007");
  expect((await wait).matched[0]?.from?.outputSeq).toBe(9);
});

test("a title beside alternatives, by a regular expression, and what was missed is declared", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  const title = { kind: "regex", text: "^(?:done|failed) [0-9]+$" } as const;
  const wait = waits.wait(source, { exit: true, anyOf: [{ title }, { bell: true }], pane, timeoutMs: 1_000 });
  // RE2 compiles before the wait begins.
  await eventually(() => pane.watchers === 1);
  source.gap(5);
  source.write("\u001b]2;done 7\u0007");
  await turns();
  source.end({ exitCode: 0 });
  const { matched, gaps } = await wait;
  expect(matched.map(({ predicate, text }) => [predicate, text])).toEqual([
    ["exit", undefined],
    ["anyOf[0].title", "done 7"],
  ]);
  expect(gaps).toHaveLength(1);
  const late = waits.wait(source, { title, bell: true, pane, timeoutMs: 1_000 });
  await eventually(() => pane.watchers === 1);
  clock.advanceMs(2_000);
  expect((await errorOf(late)).details).toMatchObject({ predicates: { bell: false, title: false } });
  expect(waits.metrics().wait_active).toBe(0);
  await turns(1);
  expect([pane.watchers, source.listeners]).toEqual([0, 0]);
});

test("however many titles a regex was tried on, it is tried on the next", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  const wait = waits.wait(source, { title: { kind: "regex", text: "^done [0-9]+$" }, pane });
  await eventually(() => pane.watchers === 1);
  for (let part = 0; part < 100; part += 1) {
    source.write("\u001b]2;building\u0007");
    await turns(1);
  }
  source.write("\u001b]2;done 100\u0007");
  expect(await wait).toMatchObject({ matched: [{ text: "done 100" }], gaps: [] });
});

test("of titles that come faster than a regex is tried the first and the newest count, and the rest is declared", async () => {
  const { source, waits } = waitBench();
  const pane = new FakeWaitPane(source);
  const title = { kind: "regex", text: "^(?:done|failed) [0-9]+$" } as const;
  const wait = waits.wait(source, { title, pane });
  await eventually(() => pane.watchers === 1);
  for (let part = 0; part < 5_000; part += 1) source.write("\u001b]2;building\u0007");
  source.write("\u001b]2;done 5000\u0007");
  const { matched, gaps } = await wait;
  expect(matched).toMatchObject([{ text: "done 5000", to: { outputSeq: source.outputSeq } }]);
  expect(gaps[0]).toMatchObject({ reason: "evicted" });
  expect(waits.metrics().wait_regex_jobs_total).toBeLessThan(100);
});

test("title and cursor are a pane's, and readiness is told by somebody", async () => {
  const { source, waits } = waitBench();
  for (const request of [{ title: idle }, { cursorStillSec: 1 }, { ready: "idle" as const }]) {
    expect((await errorOf(waits.wait(source, request))).code).toBe("INVALID_ARGUMENT");
  }
  const pane = new FakeWaitPane(source);
  expect((await errorOf(waits.wait(source, { cursorStillSec: 1e9, pane }))).code).toBe("RESOURCE_LIMIT");
  expect(waits.metrics().wait_active).toBe(0);
});

test("a cursor that is put back stands still, and so does nothing else; looks are shared and bounded", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  const still = Array.from({ length: 5 }, () => waits.wait(source, { cursorStillSec: 1, pane, timeoutMs: 60_000 }));
  const step = async (): Promise<void> => {
    source.write("x");
    clock.advanceMs(10);
    await turns(1);
  };
  for (let count = 0; count < 200; count++) {
    pane.cursor = { col: count % 40, row: 5 };
    await step();
  }
  expect(await outcomeOf(still[0]!)).toBe("pending");
  for (let count = 0; count < 200; count++) {
    pane.historyLines = count;
    await step();
  }
  expect(await outcomeOf(still[0]!)).toBe("pending");
  expect(pane.captures).toBeGreaterThan(20);
  expect(pane.captures).toBeLessThanOrEqual(42);
  for (let count = 0; count < 125; count++) await step();
  for (const wait of still) expect((await wait).matched).toEqual([{ predicate: "cursor" }]);
  await turns(1);
  expect(source.listeners).toBe(0);
});

test("waits that join others look when the first of all can be over, and not when they begin", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  const waiting: ReturnType<typeof waits.wait>[] = [];
  for (const cursorStillSec of [3, 2, 1]) {
    waiting.push(waits.wait(source, { cursorStillSec, pane, timeoutMs: 60_000 }));
    await turns();
  }
  expect(pane.captures).toBe(1);
  for (const wait of waiting.toReversed()) {
    clock.advanceMs(999);
    expect(await outcomeOf(wait)).toBe("pending");
    clock.advanceMs(1);
    expect(await outcomeOf(wait)).toMatchObject({ matched: [{ predicate: "cursor" }] });
  }
  expect(pane.captures).toBe(4);
});

test("a cursor is not looked at for nobody, and who begins to wait meanwhile takes the look under way", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  const request = { cursorStillSec: 1, pane, timeoutMs: 60_000 };
  // The pane stays watched.
  waits.wait(source, { exit: true }).catch(() => undefined);
  for (const isJoined of [false, true]) {
    const leaving = new AbortController();
    const before = pane.captures;
    waits.wait(source, request, { signal: leaving.signal }).catch(() => undefined);
    leaving.abort();
    source.write("x");
    const joined = isJoined ? waits.wait(source, request) : undefined;
    await turns();
    expect(pane.captures).toBe(before + 1);
    clock.advanceMs(1_000);
    await turns();
    expect(pane.captures).toBe(before + (isJoined ? 2 : 1));
    expect((await joined)?.elapsedMs).toBe(isJoined ? 1_000 : undefined);
    expect(source.listeners).toBe(1);
  }
});

test("a look at the cursor that may not show all output says nothing, and is repeated", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  pane.exact = false;
  const wait = waits.wait(source, { cursorStillSec: 1, pane, timeoutMs: 60_000 });
  for (let look = 1; look <= 20; look += 1) {
    await turns(1);
    expect(pane.captures).toBe(look);
    clock.advanceMs(100);
  }
  expect(await outcomeOf(wait)).toBe("pending");
  pane.exact = true;
  clock.advanceMs(100);
  expect((await wait).elapsedMs).toBe(2_100);
});

test("a level: what moves it before the wait ends begins anew, and it costs nothing while nothing is printed", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  const wait = waits.wait(source, { cursorStillSec: 1, pattern: { kind: "literal", text: "end" }, pane });
  await turns();
  clock.advanceMs(1_000);
  await turns();
  const before = pane.captures;
  clock.advanceMs(5_000);
  await turns();
  expect(pane.captures).toBe(before);
  pane.cursor = { col: 7, row: 0 };
  source.write("the end");
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(100);
  await turns();
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(999);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(101);
  await turns();
  expect((await wait).matched.map(({ predicate }) => predicate)).toEqual(["pattern", "cursor"]);
});

test("a look at the cursor that fails is repeated, and one that leaves does not end it for the others", async () => {
  const { source, waits, clock } = waitBench();
  const pane = new FakeWaitPane(source);
  pane.failures = 1;
  const leaving = new AbortController();
  const request = { cursorStillSec: 1, pane, timeoutMs: 60_000 };
  waits.wait(source, request, { signal: leaving.signal }).catch(() => undefined);
  const wait = waits.wait(source, request);
  await turns();
  leaving.abort();
  clock.advanceMs(100);
  await turns();
  expect(pane.captures).toBe(2);
  // Down a row, and what was there is scrolled by one: another cell.
  pane.cursor = { col: 0, row: 1 };
  pane.historyLines = 1;
  source.write("x");
  clock.advanceMs(100);
  await turns();
  clock.advanceMs(999);
  expect(await outcomeOf(wait)).toBe("pending");
  expect(pane.captures).toBe(3);
  clock.advanceMs(1);
  expect((await wait).elapsedMs).toBe(1_200);
  await turns(1);
  expect([clock.pendingTimers, source.listeners]).toEqual([0, 0]);
});
