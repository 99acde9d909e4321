import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { PaneStream } from "../../../../daemon/panes/paneStream.ts";
import type { ReadinessWatcher } from "../../../../daemon/readiness/readiness.ts";
import type { WaitManager } from "../../../../daemon/waits/waitManager.ts";
import type { WaitFrom } from "../../../../daemon/waits/waitRequest.ts";
import { AppError } from "../../../../protocol/errors.ts";
import type { MemorySource } from "../../../support/daemon/memorySource.ts";
import { FakeReadiness } from "../../../support/agents/fakeReadiness.ts";
import { errorOf, literal, outcomeOf, re2Done, regex, turns, waitBench } from "./waitFixture.ts";

test("a literal is matched in what comes after the wait began, and says where", async () => {
  const { source, waits } = waitBench();
  source.write("DONE before\r\n");
  const wait = waits.wait(source, literal("DONE"));
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("\x1b[32mit is DO");
  source.write("NE\x1b[0m now");
  const result = await wait;
  expect(result.matched).toEqual([
    { predicate: "pattern", text: "DONE", from: { epoch: "e1", outputSeq: 24 }, to: { epoch: "e1", outputSeq: 28 } },
  ]);
  expect(result.position.outputSeq).toBe(source.outputSeq);
  expect(result.gaps).toEqual([]);
  expect(waits.metrics().wait_active).toBe(0);
  // What it held is given back behind whoever awaited it.
  await turns(1);
  expect(source.listeners).toBe(0);
});

test("a regex that RE2 refuses is INVALID_ARGUMENT and says why; nothing stays registered", async () => {
  const { source, waits } = waitBench();
  const error = await errorOf(waits.wait(source, regex("(?=x)")));
  expect(error.code).toBe("INVALID_ARGUMENT");
  expect(error.details).toMatchObject({ engine: "re2", reason: expect.stringMatching(/^look-ahead/) as string });
  expect(waits.metrics().wait_active).toBe(0);
  expect(source.listeners).toBe(0);
});

test.each([
  ["here", "^DON$"],
  ["by RE2", "^(?P<re2>DON)$"],
])("`$` at the end of unfinished output, judged %s, waits for the line end or for quiet", async (_where, text) => {
  const { source, waits, clock } = waitBench();
  const first = waits.wait(source, regex(text));
  const prompt = waits.wait(source, regex("\\$ $"));
  source.write("DON");
  await turns();
  await re2Done(waits);
  await turns();
  source.write("E");
  await turns(1);
  // Quiet, though RE2 may not have judged what came last.
  for (const ms of [50, 50]) clock.advanceMs(ms);
  source.write("\r\nuser$ ");
  expect(await outcomeOf(first)).toBe("pending");
  await re2Done(waits);
  expect(await outcomeOf(prompt)).toBe("pending");
  clock.advanceMs(100);
  expect((await prompt).matched[0]?.text).toBe("$ ");
  clock.advanceMs(40_000);
  expect((await errorOf(first)).code).toBe("TIMEOUT");
});

test("predicates hold together: the pattern latches, stable must hold at the end", async () => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, { ...literal("go"), stableSec: 1 });
  clock.advanceMs(1_500);
  source.write("go");
  await turns();
  clock.advanceMs(900);
  source.write("more");
  await turns();
  clock.advanceMs(900);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(100);
  const result = await wait;
  expect(result.elapsedMs).toBe(3_400);
  expect(result.matched.map((match) => match.predicate)).toEqual(["pattern", "stable"]);
});

test("stable counts from registration and starts anew with every output", async () => {
  const { source, waits, clock } = waitBench();
  clock.advanceMs(60_000);
  const wait = waits.wait(source, { stableSec: 1 });
  for (let index = 0; index < 10; index++) {
    clock.advanceMs(500);
    if (index % 2 === 0) source.write(".");
    else source.gap(1);
  }
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(1_000);
  expect((await wait).elapsedMs).toBe(6_000);
});

test("with exit, stable counts from the later of exit and last output; an earlier exit counts", async () => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, { exit: true, stableSec: 1 });
  clock.advanceMs(5_000);
  source.end({ exitCode: 3 });
  clock.advanceMs(500);
  source.write("late");
  clock.advanceMs(999);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(1);
  expect((await wait).exit).toEqual({ exitCode: 3 });
  expect((await waits.wait(source, { exit: true })).elapsedMs).toBe(0);
});

test("with exit, stable counts from the exit of the program that runs now, not from its predecessor's", async () => {
  const { source, waits, clock } = waitBench();
  const latched = waits.wait(source, { ...literal("later"), exit: true });
  source.end({ exitCode: 1 });
  clock.advanceMs(5_000);
  expect((await waits.wait(source, { exit: true })).elapsedMs).toBe(0);
  source.respawn();
  const wait = waits.wait(source, { exit: true, stableSec: 1 });
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(5_000);
  source.end({ exitCode: 2 });
  clock.advanceMs(999);
  expect(await outcomeOf(wait)).toBe("pending");
  clock.advanceMs(1);
  expect((await wait).exit).toEqual({ exitCode: 2 });
  source.respawn();
  source.write("later");
  expect((await latched).matched.map((match) => match.predicate)).toEqual(["pattern", "exit"]);
});

test("latency counts from the output that decides a wait, and not from before the wait", async () => {
  const { source, waits, clock } = waitBench();
  source.write("before\r\n");
  clock.advanceMs(60_000);
  await waits.wait(source, { ...literal("before"), from: { kind: "tail", lines: 1 } });
  const bell = waits.wait(source, { bell: true, exit: true });
  clock.advanceMs(7);
  source.write("\u0007 and \u0007");
  source.end({ exitCode: 0 });
  await bell;
  expect(waits.metrics().wait_match_latency_ms).toMatchObject({ count: 2, sum: 0 });
  const [first, second] = ["first", "second"].map((text) => waits.wait(source, literal(text)));
  source.write("first");
  clock.advanceMs(3);
  source.write(" and");
  await first;
  clock.advanceMs(50);
  source.write(" second");
  await second;
  expect(waits.metrics().wait_match_latency_ms).toMatchObject({ count: 4, sum: 3 });
});

test("a pane that goes fails its waits at once, satisfies `gone`, and what it printed last still counts", async () => {
  const { source, waits } = waitBench();
  const missing = waits.wait(source, literal("never"));
  const gone = waits.wait(source, { gone: true });
  const last = waits.wait(source, literal("bye"));
  const lastRegex = waits.wait(source, regex("b.e"));
  const missingRegex = waits.wait(source, regex("b.x"));
  const [lastRe2, missingRe2] = [waits.wait(source, regex("(?P<b>b).e")), waits.wait(source, regex("(?P<b>b).x"))];
  source.write("bye");
  source.close(new AppError("NOT_FOUND", "the pane is gone"));
  expect((await errorOf(missing)).code).toBe("NOT_FOUND");
  expect((await gone).matched).toEqual([{ predicate: "gone" }]);
  expect((await last).matched[0]?.text).toBe("bye");
  expect((await lastRegex).matched[0]?.text).toBe("bye");
  expect((await errorOf(missingRegex)).code).toBe("NOT_FOUND");
  expect((await lastRe2).matched[0]?.text).toBe("bye");
  expect((await errorOf(missingRe2)).code).toBe("NOT_FOUND");
  expect(waits.metrics().wait_active).toBe(0);
});

test("a wait that begins as soon as another has seen the pane go fails at once as well", async () => {
  const { waits, clock } = waitBench();
  const source = new PaneStream({ id: "%1", epoch: "e1", retainBytes: 1_024, onListenerError: () => undefined });
  const next = errorOf(waits.wait(source, { gone: true }).then(() => waits.wait(source, literal("x"))));
  source.close(new AppError("NOT_FOUND", "the pane is gone"));
  expect(await outcomeOf(next)).toMatchObject({ code: "NOT_FOUND" });
  expect(waits.metrics().wait_active).toBe(0);
  expect(clock.pendingTimers).toBe(0);
});

test.each<[string, (source: MemorySource) => void]>([
  ["is lost", (source) => source.close(new AppError("CONNECTION_LOST", "tmux is gone"))],
  ["was lost and is another one", (source) => source.gap(0, "epoch")],
])("the connection to tmux %s: every wait fails, those for `gone` too", async (_how, lose) => {
  const { source, waits } = waitBench();
  const gone = waits.wait(source, { gone: true });
  lose(source);
  expect((await errorOf(gone)).code).toBe("CONNECTION_LOST");
});

test("a timeout tells how far each predicate came", async () => {
  const { source, waits, clock } = waitBench();
  const all = { ...literal("a"), stableSec: 5, exit: true, prompt: true };
  clock.advanceMs(500);
  const wait = waits.wait(source, { ...all, anyOf: [{ bell: true }], timeoutMs: 2_000 });
  const small = waits.wait(source, { exit: true, timeoutMs: 2_000 });
  source.write("a");
  await turns();
  clock.advanceMs(2_000);
  const common = { elapsedMs: 2_000, timeoutMs: 2_000, gaps: [] };
  const { code, message, details } = await errorOf(wait);
  expect([code, message]).toEqual(["TIMEOUT", "timed out after 2 s"]);
  const stable = { satisfied: false, quietMs: 2_000 };
  const predicates = { pattern: true, stable, exit: false, prompt: false, anyOf: [{ bell: false }] };
  expect(details).toEqual({ ...common, predicates });
  expect((await errorOf(small)).details).toEqual({ ...common, predicates: { exit: false } });
});

test.each(["D[O]NE", "(?P<re2>DONE)"])(
  "output that came in time counts though %s was not tried on it when the time was over",
  async (text) => {
    const { source, waits, clock } = waitBench();
    const request = { ...regex(text), timeoutMs: 1_000 };
    const [wait, vain] = [waits.wait(source, request), waits.wait(source, { ...request, bell: true })];
    await re2Done(waits);
    source.write("DONE\r\n");
    clock.advanceMs(1_000);
    expect((await wait).matched).toMatchObject([{ text: "DONE" }]);
    expect((await errorOf(vain)).details).toMatchObject({ predicates: { pattern: true, bell: false } });
    expect(waits.metrics().wait_active).toBe(0);
  },
);

test("what becomes of waits is counted, and each forgets its caller's signal", async () => {
  const { source, waits, clock } = waitBench();
  const leaving = new AbortController();
  const cancelled = waits.wait(source, literal("x"), { signal: leaving.signal });
  leaving.abort();
  await errorOf(cancelled);
  const kept = new AbortController().signal;
  const found = waits.wait(source, literal("x"), { signal: kept });
  const late = waits.wait(source, { exit: true, timeoutMs: 1 }, { signal: kept });
  source.write("x");
  await found;
  clock.advanceMs(1);
  await errorOf(late);
  const gone = waits.wait(source, literal("y"), { signal: kept });
  source.close(new AppError("NOT_FOUND", "the pane is gone"));
  await errorOf(gone);
  await turns(1);
  expect(waits.metrics()).toMatchObject({
    wait_active: 0,
    wait_started_total: 4,
    wait_matched_total: 1,
    wait_timeouts_total: 1,
    wait_cancelled_total: 1,
    wait_failed_total: 1,
    wait_eval_ms: { sum: 0 },
  });
  expect(waits.metrics().wait_eval_ms.count).toBeGreaterThan(0);
  expect(getEventListeners(kept, "abort")).toEqual([]);
});

test("one of several alternatives is enough", async () => {
  const { source, waits } = waitBench();
  const anyOf = [
    { pattern: { kind: "literal", text: "ok" } },
    { pattern: { kind: "regex", text: "err\\w+" } },
  ] as const;
  const wait = waits.wait(source, { anyOf });
  source.write("an error came");
  expect((await wait).matched.map((match) => [match.predicate, match.text])).toEqual([["anyOf[1].pattern", "error"]]);
  const last = waits.wait(source, { anyOf: [literal("its last"), { exit: true }] });
  source.write("its last");
  source.end({ exitCode: 0 });
  expect((await last).matched.map((match) => match.predicate)).toEqual(["anyOf[0].pattern"]);
});

test("an alternative that holds before another one would ends its wait then", async () => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, { anyOf: [{ stableSec: 10 }, { ...literal("go"), stableSec: 1 }] });
  clock.advanceMs(3_000);
  source.write("go");
  await turns();
  clock.advanceMs(1_000);
  expect((await wait).matched.map((match) => match.predicate)).toEqual(["anyOf[1].pattern", "anyOf[1].stable"]);
});

test("tail looks at the last lines kept and no further", async () => {
  const { source, waits } = waitBench();
  source.write("one\r\ntwo\r\nthree\r\n\x1b[0m");
  const found = await waits.wait(source, { ...literal("two"), from: { kind: "tail", lines: 2 } });
  expect(found.matched[0]?.from?.outputSeq).toBe(5);
  const missed = waits.wait(source, { ...literal("two"), from: { kind: "tail", lines: 1 } });
  expect(await outcomeOf(missed)).toBe("pending");
  source.write("tw");
  source.write("o");
  expect((await missed).matched[0]?.from?.outputSeq).toBe(21);
});

test.each(["needle \\d+$", "(?P<here>needle) \\d+"])(
  "tail tries %s on all of it beside a wait that began now",
  async (text) => {
    const { source, waits } = waitBench();
    source.write(`needle 123\r\n${"more output than a match can be long\r\n".repeat(3_000)}`);
    waits.wait(source, literal("never")).catch(() => undefined);
    await turns();
    const wait = waits.wait(source, { ...regex(text), from: { kind: "tail", lines: 5_000 } });
    expect((await wait).matched[0]?.from?.outputSeq).toBe(0);
  },
);

test.each([1, 2_000])(
  "a wait that began %i lines earlier shares the matchers of those that began now once it has caught up",
  async (lines) => {
    const { source, waits } = waitBench();
    const before = "some lines\r\n".repeat(lines);
    source.write(`${before}DO`);
    const waiting = [waits.wait(source, literal("NE"))];
    await turns();
    waiting.push(waits.wait(source, { ...literal("DONE"), from: { kind: "tail", lines: 5_000 } }));
    waiting.push(waits.wait(source, { ...literal("NE"), from: { kind: "tail", lines: 5_000 } }));
    // What it has found by then is not searched for again.
    void waits.wait(source, { ...literal("lines"), exit: true, from: { kind: "tail", lines: 5_000 } });
    const leaving = new AbortController();
    const left = { ...regex("\\d"), from: { kind: "tail", lines: 5_000 } } as const;
    waits.wait(source, left, { signal: leaving.signal }).catch(() => undefined);
    expect(waits.metrics().wait_matchers).toBe(5);
    await turns();
    expect(waits.metrics().wait_matchers).toBe(3);
    leaving.abort();
    expect(waits.metrics().wait_matchers).toBe(2);
    source.write("NE");
    expect(
      (await Promise.all(waiting)).map(({ matched }) => (matched[0]?.from?.outputSeq ?? 0) - before.length),
    ).toEqual([2, 0, 2]);
  },
);

test("a wait that began earlier stays by itself while the shared text does not reach back to where its match may begin", async () => {
  const { source, waits } = waitBench();
  source.write(`DO${"\u001b[0m".repeat(5_000)}`);
  waits.wait(source, literal("never")).catch(() => undefined);
  await turns();
  const wait = waits.wait(source, { ...literal("DONE"), from: { kind: "tail", lines: 1 } });
  await turns();
  source.write("NE");
  expect((await wait).matched[0]?.from?.outputSeq).toBe(0);
});

test("a match at the end of the output stays one for a wait that joins another, once output is quiet", async () => {
  const { source, waits, clock } = waitBench();
  source.write("some lines");
  waits.wait(source, literal("never")).catch(() => undefined);
  await turns();
  const wait = waits.wait(source, { ...regex("l[i]nes$"), from: { kind: "tail", lines: 1 } });
  await turns();
  await re2Done(waits);
  clock.advanceMs(100);
  expect(await outcomeOf(wait)).toMatchObject({ matched: [{ text: "lines" }] });
});

test("a position looks from there on, an impossible one is refused, one of another epoch is a gap", async () => {
  const { source, waits, clock } = waitBench();
  source.write("aa bb aa");
  const from = (outputSeq: number, epoch = "e1") => ({ kind: "position", position: { epoch, outputSeq } }) as const;
  expect((await waits.wait(source, { ...literal("aa"), from: from(1) })).matched[0]?.from?.outputSeq).toBe(6);
  expect((await errorOf(waits.wait(source, { ...literal("aa"), from: from(9) }))).code).toBe("INVALID_ARGUMENT");
  const other = await waits.wait(source, { ...literal("aa"), from: from(3, "e0") });
  expect(other.gaps).toEqual([
    { from: { epoch: "e0", outputSeq: 3 }, to: { epoch: "e1", outputSeq: 0 }, reason: "epoch" },
  ]);
  const vain = waits.wait(source, { ...literal("cc"), from: from(3, "e0"), timeoutMs: 1 });
  await turns();
  clock.advanceMs(1);
  expect((await errorOf(vain)).details?.["gaps"]).toEqual([{ from: "e0:3", to: "e1:0", reason: "epoch" }]);
  expect(waits.metrics().wait_active).toBe(0);
  expect(await outcomeOf(waits.wait(source, { ...literal("aa"), from: from(8) }))).toBe("pending");
});

test("identical waits share one matcher and each keeps its own start", async () => {
  const { source, waits } = waitBench();
  const first = Array.from({ length: 50 }, () => waits.wait(source, literal("DONE")));
  expect(waits.metrics().wait_matchers).toBe(1);
  source.write("DO");
  await turns();
  const late = waits.wait(source, literal("DONE"));
  expect(waits.metrics().wait_matchers).toBe(1);
  source.write("NE");
  for (const result of await Promise.all(first)) expect(result.matched[0]?.text).toBe("DONE");
  expect(await outcomeOf(late)).toBe("pending");
  source.write("DONE");
  expect((await late).matched[0]?.from?.outputSeq).toBe(4);
  await turns(1);
  expect(waits.metrics().wait_matchers).toBe(0);
});

test("identical regexes share one search, begin it when a literal of theirs turns up, and leave nothing", async () => {
  const { source, waits } = waitBench();
  const leaving = [new AbortController(), new AbortController()];
  for (const { signal } of leaving) void waits.wait(source, regex("fail\\w+x"), { signal }).catch(() => undefined);
  void waits.wait(source, literal("stays"));
  const { wait_matchers: both } = waits.metrics();
  const jobsAfter = async (output: string): Promise<number> => {
    source.write(output);
    await turns();
    return waits.metrics().wait_regex_jobs_total;
  };
  expect(await jobsAfter("nothing of theirs\r\n")).toBe(0);
  expect(await jobsAfter("a failure\r\n")).toBe(1);
  expect(await jobsAfter("nothing again\r\n")).toBe(1);
  leaving[0]!.abort();
  expect(waits.metrics().wait_matchers).toBe(both);
  leaving[1]!.abort();
  expect(waits.metrics().wait_matchers).toBe(1);
  expect(await jobsAfter("a failure\r\n")).toBe(1);
});

test("a caller that leaves frees its wait at once", async () => {
  const { source, waits, clock } = waitBench();
  const leaving = new AbortController();
  const wait = waits.wait(source, literal("x"), { signal: leaving.signal });
  expect(waits.metrics().wait_active).toBe(1);
  leaving.abort();
  expect(waits.metrics().wait_active).toBe(0);
  expect(source.listeners).toBe(0);
  expect(clock.pendingTimers).toBe(0);
  expect((await errorOf(wait)).name).toBe("AbortError");
});

test.each<[string, (waits: WaitManager, ...given: Parameters<WaitManager["wait"]>) => Promise<unknown>]>([
  ["a wait", (waits, ...given) => waits.wait(...given)],
  ["a wait that types", (waits, source, request, options) => waits.sendAndWait(source, request, never, options)],
])(
  "a caller that leaves while tmux is asked for %s frees it at once, and what tmux says then as well",
  async (_what, begin) => {
    const { source, waits } = waitBench();
    const program = new FakeReadiness("idle");
    const { id, server, readiness } = program.pane;
    let reply = (): void => undefined;
    const replied = new Promise<void>((resolve) => (reply = resolve));
    const watch: ReadinessWatcher["watch"] = (...given) => {
      const watched = readiness!.watch(...given);
      return { ...watched, probe: () => replied.then(() => watched.probe()) };
    };
    const pane = { id, server, readiness: { ...readiness!, watch } };
    const leaving = new AbortController();
    const wait = begin(waits, source, { ready: "idle", pane }, { signal: leaving.signal });
    await turns();
    leaving.abort();
    expect((await errorOf(wait)).name).toBe("AbortError");
    expect([waits.metrics().wait_active, program.watchers]).toEqual([0, 1]);
    reply();
    await turns();
    expect([program.watchers, source.listeners]).toEqual([0, 0]);
  },
);

const never = (): Promise<never> => Promise.reject(new Error("nothing is typed"));

test("output that no wait reads is not evaluated", async () => {
  const { source, waits } = waitBench();
  waits.wait(source, { exit: true }).catch(() => undefined);
  const leaving = (from: WaitFrom): AbortController => {
    const controller = new AbortController();
    waits.wait(source, { ...literal("x"), from }, { signal: controller.signal }).catch(() => undefined);
    return controller;
  };
  const backlog = (): number => {
    source.write(".");
    return waits.metrics().wait_backlog_depth;
  };
  const first = leaving({ kind: "now" });
  expect(backlog()).toBe(1);
  await turns();
  leaving({ kind: "tail", lines: 1 }).abort();
  // Those that read by themselves are read together once the first has left.
  const others = [1, 2].map(() => leaving({ kind: "tail", lines: 1 }));
  first.abort();
  await turns();
  expect(waits.metrics().wait_matchers).toBe(1);
  for (const other of others) other.abort();
  expect(backlog()).toBe(0);
});

test("closing settles everything", async () => {
  const { source, waits, clock } = waitBench();
  const wait = waits.wait(source, regex("x"));
  const sent: string[] = [];
  const send = async (beforeWrite: () => void): Promise<void> => {
    await turns();
    beforeWrite();
    sent.push("x");
  };
  const late = errorOf(waits.sendAndWait(source, literal("x"), send));
  await turns(1);
  waits.close();
  waits.close();
  expect(await errorOf(wait)).toMatchObject({ code: "SHUTTING_DOWN", details: { position: "e1:0", gaps: [] } });
  for (const request of [literal("x"), regex("(?P<re2>x)")])
    expect((await errorOf(waits.wait(source, request))).code).toBe("SHUTTING_DOWN");
  expect(await late).toMatchObject({ code: "SHUTTING_DOWN" });
  expect([sent, waits.metrics().wait_active, clock.pendingTimers]).toEqual([[], 0, 0]);
});

test("send and wait: armed in the turn of the write, the echo does not count, the response does", async () => {
  const { source, waits } = waitBench();
  source.write("$ ");
  const typed = Buffer.from("echo DONE\r");
  const sent: string[] = [];
  const wait = waits.sendAndWait(source, { ...literal("DONE"), excludeEcho: typed }, async (beforeWrite) => {
    await turns(2);
    source.write("DONE too early\r\n$ ");
    beforeWrite();
    sent.push("echo DONE");
    source.write("echo DONE\r\nDO");
    source.write("NE\r\n$ ");
  });
  const result = await wait;
  expect(sent).toEqual(["echo DONE"]);
  expect(result.matched[0]?.from?.outputSeq).toBe(31);
});

test("send and wait: a regex that cannot be compiled types nothing, a failed send frees the wait", async () => {
  const { source, waits } = waitBench();
  let sent = 0;
  const bad = waits.sendAndWait(source, regex("("), () => Promise.resolve(sent++));
  expect((await errorOf(bad)).code).toBe("INVALID_ARGUMENT");
  expect(sent).toBe(0);
  const failing = waits.sendAndWait(source, regex("x"), (beforeWrite) => {
    beforeWrite();
    return Promise.reject(new AppError("NOT_FOUND", "no such pane"));
  });
  expect((await errorOf(failing)).code).toBe("NOT_FOUND");
  expect([waits.metrics().wait_active, waits.metrics().wait_cancelled_total, source.listeners]).toEqual([0, 1, 0]);
});

test("send and wait: where the sender does not say when it writes, the wait begins before it", async () => {
  const { source, waits } = waitBench();
  source.write("DONE before\r\n");
  const wait = waits.sendAndWait(source, { ...literal("DONE"), prompt: true }, async () => source.write("DONE\r\n$ "));
  expect(await outcomeOf(wait)).toBe("pending");
  source.write("\u001b[?2004h$ ");
  expect((await wait).matched[0]?.from?.outputSeq).toBe(13);
});

test("a level may fall again before the wait ends", async () => {
  const { source, waits } = waitBench();
  const program = new FakeReadiness("busy");
  const level = waits.wait(source, { exit: true, ready: "idle", pane: program.pane });
  await turns();
  program.become("idle");
  program.become("busy");
  source.end({ exitCode: 0 });
  expect(await outcomeOf(level)).toBe("pending");
  program.become("idle");
  expect((await level).matched.map((match) => match.predicate)).toEqual(["exit", "ready"]);
  await turns(1);
  expect(program.watchers).toBe(0);
});

test("after typing only a state that began after it counts, the same one again included", async () => {
  const { source, waits } = waitBench();
  const program = new FakeReadiness("idle");
  const send = (beforeWrite: () => void): Promise<void> => Promise.resolve(beforeWrite());
  const wait = waits.sendAndWait(source, { ready: "idle", pane: program.pane }, send);
  expect(await outcomeOf(wait)).toBe("pending");
  program.become("busy");
  program.become("idle");
  expect((await wait).matched).toEqual([{ predicate: "ready" }]);
  const standing = waits.wait(source, { ready: "idle", pane: program.pane });
  expect((await standing).matched).toEqual([{ predicate: "ready" }]);
});

test("a wait for readiness where it is not reported, or whose pane cannot be watched, leaves nothing behind", async () => {
  const { source, waits } = waitBench();
  expect((await errorOf(waits.wait(source, { ready: "idle" }))).code).toBe("INVALID_ARGUMENT");
  const failing = new FakeReadiness("idle", new AppError("NOT_FOUND", "no such pane"));
  const request = { ready: "idle", pane: failing.pane } as const;
  expect((await errorOf(waits.wait(source, request))).code).toBe("NOT_FOUND");
  expect(waits.metrics().wait_active).toBe(0);
  expect(source.listeners).toBe(0);
});
