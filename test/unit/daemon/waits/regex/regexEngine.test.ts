import { afterEach, expect, test } from "vitest";
import { systemClock } from "../../../../../daemon/time/clock.ts";
import { Scheduler } from "../../../../../daemon/time/scheduler.ts";
import { TurnBudget } from "../../../../../daemon/time/turnBudget.ts";
import { analyseRegex } from "../../../../../daemon/waits/regex/regexAnalysis.ts";
import { type CompiledRegex, RegexEngine, type RegexOutcome } from "../../../../../daemon/waits/regex/regexEngine.ts";
import { DEFAULT_WAIT_LIMITS, type WaitLimits } from "../../../../../daemon/waits/waitLimits.ts";
import { WaitMetrics } from "../../../../../daemon/waits/waitHost.ts";
import { errorOf } from "../waitFixture.ts";

const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

function engineWith(changes: Partial<WaitLimits> = {}): {
  engine: RegexEngine;
  metrics: WaitMetrics;
  acquire: (text: string, flags?: { ignoreCase?: boolean }) => CompiledRegex;
} {
  const limits = { ...DEFAULT_WAIT_LIMITS, ...changes };
  const metrics = new WaitMetrics();
  const scheduler = new Scheduler({ clock: systemClock });
  const engine = new RegexEngine({
    clock: systemClock,
    scheduler,
    budget: new TurnBudget({ clock: systemClock }),
    limits,
    metrics,
  });
  open.push(() => {
    engine.close();
    scheduler.close();
  });
  // RE2's part of it: what is judged without RE2 is in test/property/shortRegex.test.ts.
  const acquire = (text: string, given = {}): CompiledRegex => {
    const flags = { ignoreCase: false, multiline: true, dotAll: false, ...given };
    return engine.acquire({ ...analyseRegex(text, flags, limits), short: undefined });
  };
  return { engine, metrics, acquire };
}

const run = (engine: RegexEngine, regex: CompiledRegex, text: string | Uint8Array, skip = 0): Promise<RegexOutcome> =>
  new Promise((resolve) => {
    engine.run(regex, typeof text === "string" ? Buffer.from(text) : text, skip, resolve);
  });

/** Random letters and blanks: what makes RE2 build a new state for every byte. */
const noise = Uint8Array.from({ length: 32_768 }, (_, at) =>
  "abcdefghij xyz01".charCodeAt((at * 7_919 + at * at) % 16),
);

test("matches are counted in characters, and context is not matched", async () => {
  const { engine, acquire } = engineWith();
  expect(await run(engine, acquire("DO+NE"), "\u{1f600}\u00e9 DOONE")).toEqual({
    seq: 2,
    kind: "match",
    index: 3,
    text: "DOONE",
  });
  const anchored = acquire("^a");
  expect((await run(engine, anchored, "\u{1f600}a", 1)).kind).toBe("none");
  expect((await run(engine, anchored, "\na", 1)).kind).toBe("match");
});

test("what is released before the worker was told of it never gets there", async () => {
  const { engine, acquire } = engineWith();
  const regex = acquire("a+");
  const outcome = run(engine, regex, "aaa");
  engine.release(regex);
  expect((await outcome).kind).toBe("none");
  expect((await run(engine, acquire("a+"), "aaa")).kind).toBe("match");
});

test("a regex is compiled once for all who ask for it, and again only after all have gone", async () => {
  const { engine, metrics, acquire } = engineWith();
  const [one, two] = [acquire("a+"), acquire("a+")];
  expect(one).toBe(two);
  expect(acquire("a+", { ignoreCase: true })).not.toBe(one);
  await one.ready;
  engine.release(one);
  expect((await run(engine, two, "baa")).kind).toBe("match");
  engine.release(two);
  expect(acquire("a+")).not.toBe(two);
  expect(metrics.numbers.wait_regex_compiles_total).toBe(3);
});

test("a regex that takes too long fails alone; the others lose nothing, and it is refused from then on", async () => {
  const { engine, metrics, acquire } = engineWith({
    maxRegexRepetition: 10_000,
    maxRegexCost: 1e9,
    regexCompileMs: 10_000,
  });
  const hostile = acquire(".{0,900}q");
  const innocent = Array.from({ length: 20 }, (_, index) => acquire(`job ${index}$`));
  await Promise.all([hostile.ready, ...innocent.map((regex) => regex.ready)]);
  const bad = run(engine, hostile, noise);
  const good = innocent.map((regex, index) => run(engine, regex, `done job ${index}\n`));
  const again = run(engine, hostile, noise);
  for (const outcome of [await bad, await again]) {
    expect(outcome.kind === "failed" ? outcome.error.code : outcome.kind).toBe("RESOURCE_LIMIT");
  }
  for (const outcome of await Promise.all(good)) expect(outcome.kind).toBe("match");
  expect(metrics.numbers.wait_regex_watchdog_total).toBe(1);
  engine.release(hostile);
  expect(() => acquire(".{0,900}q")).toThrow("the regex costs too much");
});

test("a regex that exhausts RE2 gets a typed error, its neighbours go on in the replacement", async () => {
  const limits = { maxRegexRepetition: 1e9, maxRegexCost: 1e12, regexCompileMs: 60_000, regexWatchdogMs: 60_000 };
  const { engine, metrics, acquire } = engineWith(limits);
  const innocent = acquire("fine \\d+");
  await innocent.ready;
  const exhausting = acquire("[\\p{L}\\d]{1000}");
  const neighbour = run(engine, innocent, "all fine 7");
  const error = await errorOf(exhausting.ready);
  expect(["RESOURCE_LIMIT", "INVALID_ARGUMENT"]).toContain(error.code);
  expect((await neighbour).kind).toBe("match");
  expect((await run(engine, innocent, "still fine 8")).kind).toBe("match");
  // Once for itself, once more alone in a fresh heap: then it is sure whose fault it is.
  expect(metrics.numbers.wait_regex_crashes_total).toBe(2);
}, 60_000);

test("more live regexes than the worker keeps: the oldest are compiled anew when they are used", async () => {
  const { engine, acquire } = engineWith({ maxCompiledRegexes: 10 });
  const regexes = Array.from({ length: 50 }, (_, index) => acquire(`v${index}(?:a|b)+`));
  for (const round of [1, 2]) {
    const outcomes = regexes.map((regex, index) => run(engine, regex, `${round} v${index}ab`));
    for (const outcome of await Promise.all(outcomes)) expect(outcome.kind).toBe("match");
  }
});

test("closing fails what is under way", async () => {
  const { engine, acquire } = engineWith();
  const regex = acquire("a");
  await regex.ready;
  const pending = run(engine, regex, "a");
  engine.close();
  engine.close();
  expect((await pending).kind).toBe("failed");
});
