import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../daemon/time/clock.ts";
import { Scheduler } from "../../daemon/time/scheduler.ts";
import { TurnBudget } from "../../daemon/time/turnBudget.ts";
import { analyseRegex, type RegexAnalysis } from "../../daemon/waits/regex/regexAnalysis.ts";
import { RegexEngine, type RegexOutcome } from "../../daemon/waits/regex/regexEngine.ts";
import { DEFAULT_WAIT_LIMITS } from "../../daemon/waits/waitLimits.ts";
import { WaitMetrics } from "../../daemon/waits/waitHost.ts";

const limits = DEFAULT_WAIT_LIMITS;
const scheduler = new Scheduler({ clock: systemClock });
const budget = new TurnBudget({ clock: systemClock });
const engine = new RegexEngine({ clock: systemClock, scheduler, budget, limits, metrics: new WaitMetrics() });
afterAll(() => {
  engine.close();
  scheduler.close();
});

const MULTILINE = { ignoreCase: false, multiline: true, dotAll: false };
/** Those on which spellings and engines differ are among them. */
const CHARACTERS = [
  "a",
  "b",
  "K",
  "k",
  "\u212a",
  "S",
  "\u017f",
  "1",
  "_",
  "$",
  ".",
  "-",
  " ",
  "\t",
  "\v",
  "\r",
  "\u00a0",
];
const WIDE = ["\u00e9", "\u00c9", "\u65e5", "\u{1f600}", "\ufffd", "\u2028"];
const text = fc
  .array(fc.constantFrom(...CHARACTERS, ...WIDE, "\n", "\n", "ab", "ab1"), { maxLength: 24 })
  .map((all) => all.join(""));

const { pattern } = fc.letrec<{ pattern: string; term: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("a", "b", "ab", "k", "S", "\u00e9", "\u65e5", "\u{1f600}", " ", "1") },
    {
      weight: 4,
      arbitrary: fc.constantFrom(".", "\\d", "\\D", "\\s", "\\S", "\\w", "\\W", "\\n", "\\t", "\\v", "\\$", "\\."),
    },
    {
      weight: 3,
      arbitrary: fc.constantFrom("[ab]", "[^a]", "[a-c1-]", "[\\d_]", "[^\\s$]", "[.$]", "[]a]", "[\u00e8-\u00ea]"),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom("\\b", "\\B", "^", "$", "\\A", "\\z", "\\u00e9", "\\x{1f600}", "\\Qa.\\E"),
    },
    { weight: 2, arbitrary: fc.tuple(tie("pattern"), tie("pattern")).map(([one, other]) => `(${one}|${other})`) },
    { weight: 1, arbitrary: tie("pattern").map((one) => `(?:${one})`) },
    { weight: 1, arbitrary: tie("pattern").map((one) => `(?i:${one})`) },
    { weight: 1, arbitrary: tie("pattern").map((one) => `(?s:${one})`) },
  ),
  term: fc
    .tuple(tie("atom"), fc.constantFrom("", "", "", "+", "*", "?", "{2}", "{1,2}", "{2,}", "+?", "*?", "??", "{0,2}?"))
    .map(([atom, times]) => atom + times),
  pattern: fc.array(tie("term"), { maxLength: 4 }).map((terms) => terms.join("")),
}));
const flags = fc.record({ ignoreCase: fc.boolean(), multiline: fc.boolean(), dotAll: fc.boolean() });

/** What RE2 says, in its worker, as the search says it. */
const ask = async (given: RegexAnalysis, bytes: Uint8Array, skip: number): Promise<unknown> => {
  const regex = engine.acquire({ ...given, short: undefined });
  try {
    await regex.ready;
    const outcome = await new Promise<RegexOutcome>((resolve) => engine.run(regex, bytes, skip, resolve));
    return outcome.kind === "match" ? { index: outcome.index, text: outcome.text } : outcome.kind;
  } finally {
    engine.release(regex);
  }
};

test("what is judged without RE2 is judged as RE2 does, and is nothing that RE2 refuses", async () => {
  let judgedHere = 0;
  let inPieces = 0;
  await fc.assert(
    fc.asyncProperty(pattern, flags, text, fc.constantFrom(0, 1), async (written, given, all, skip) => {
      const analysis = analyseRegex(written, given, limits);
      if (analysis.short === undefined) return;
      judgedHere += 1;
      const bytes = Buffer.from(all);
      const asked = await ask(analysis, bytes, skip);
      expect(analysis.short.search(bytes, skip).next()).toEqual(asked);
      // As the engine does with long text: in pieces, and from where one could take long it is RE2's.
      for (const maxSteps of [8, 64]) {
        const search = analysis.short.search(bytes, skip, maxSteps);
        let found = search.next();
        for (; found === "more"; found = search.next()) inPieces += 1;
        expect(found === "long" ? await ask(analysis, bytes, search.skip) : found).toEqual(asked);
      }
    }),
    { numRuns: Number(process.env["FUZZ_RUNS"] ?? 2_000) },
  );
  expect(judgedHere).toBeGreaterThan(0);
  expect(inPieces).toBeGreaterThan(0);
});

test.each([
  "(a+)+",
  "(a|b)+",
  "(a?)*",
  "(?:a?)?",
  "(?:a|b?)?",
  "(?:a+){2}",
  "(^)*",
  "(?:^\\b)*",
  "(?:)+",
  "a{2,1}",
  "(?P<name>a)",
  "(?U)a+",
  "a**",
  "a{2}{3}",
  "*a",
  "\\pL",
  "[[:alpha:]]",
  "[^\\D]",
  "(?i)\u00e9",
  "a\\",
  "(?=a)",
  // As UTF-16 it is in order.
  "[\u{1f600}-\uffff]",
])("%j is RE2's", (written) => {
  expect(analyseRegex(written, MULTILINE, limits).short).toBeUndefined();
});

const LINES = "a line as long as those that programs print when they say what they do\n".repeat(400);

test.each(["build (ok|failed)", "\\d+ passed", "^error: .*$", "[$#>] $", "(?i)done", "took [0-9.]+ ?m?s"])(
  "%j is judged here on a line and on many, and by RE2 on a line that could take long",
  (written) => {
    const { short } = analyseRegex(written, MULTILINE, limits);
    expect(short?.search(Buffer.from("x".repeat(160)), 0).next()).toBe("none");
    const search = short!.search(Buffer.from(LINES), 0);
    let found = search.next();
    while (found === "more") found = search.next();
    expect(found).toBe("none");
    expect(short?.search(Buffer.from("x".repeat(10_000_000)), 0).next()).toBe("long");
  },
);

test.each([
  ["a", 11],
  ["(?:ab|c)", 44],
  ["a?", 22],
  ["a{2,3}", 66],
  ["a{2,}", 198],
  ["(?:a+)?b", 396],
  ["(?:\\ba)+", 264],
  ["a+b+", 1_144],
  ["(?:a+|b)c+", 2_288],
  ["(?:a?){40}b", Infinity],
])("%j takes at most %d steps on ten characters", (written, steps) => {
  const { short } = analyseRegex(written, MULTILINE, limits);
  for (const tried of ["x".repeat(10), `x\n${"x".repeat(10)}`]) {
    expect(short?.pieceEnd(tried, tried.length - 10, Math.min(steps, 1e12))).toBe(
      steps === Infinity ? undefined : tried.length,
    );
    expect(short?.pieceEnd(tried, tried.length - 10, Math.min(steps - 1, 1e12))).toBeUndefined();
  }
});

test("pieces end where lines do, for a regex that stays on one; what is behind them is seen", () => {
  const search = (written: string, tried: string, skip: number, maxSteps: number): unknown[] => {
    const one = analyseRegex(written, MULTILINE, limits).short!.search(Buffer.from(tried), skip, maxSteps);
    const found: unknown[] = [one.next()];
    while (found.at(-1) === "more") found.push(one.next());
    return [...found, one.skip];
  };
  expect(search("\\z", "ab\ncd", 0, 5)).toEqual(["more", { index: 5, text: "" }, 3]);
  expect(search("q", `\u{1f600}\n${"x".repeat(10)}`, 0, 10)).toEqual(["more", "long", 2]);
  expect(search("a\\nb", "a\nb\n", 0, 12)).toEqual(["long", 0]);
  expect(search("[^b]", "\u{1f600}b", 1, 100)).toEqual(["none", 1]);
});

test("outcomes come in the order of the texts, whoever judges them", async () => {
  const regex = engine.acquire(analyseRegex("e+nd", MULTILINE, limits));
  const order: string[] = [];
  const told = (name: string): Promise<string> =>
    new Promise((resolve) => {
      const bytes = Buffer.from(name.startsWith("long") ? "e ".repeat(15_000) : "eend");
      engine.run(regex, bytes, 0, ({ kind }) => {
        order.push(name);
        resolve(kind);
      });
    });
  expect(await Promise.all(["short", "long", "short after it", "long again"].map(told))).toEqual([
    "match",
    "none",
    "match",
    "none",
  ]);
  expect(order).toEqual(["short", "long", "short after it", "long again"]);
  engine.release(regex);
});

test("the engine responds in a later turn, without RE2, and not once it is closed", async () => {
  const metrics = new WaitMetrics();
  const alone = new RegexEngine({ clock: systemClock, scheduler, budget, limits, metrics });
  const regex = alone.acquire(analyseRegex("^ready\\.$", MULTILINE, limits));
  await regex.ready;
  let outcome: RegexOutcome | undefined;
  alone.run(regex, Buffer.from("not ready.\nready.\n"), 0, (told) => (outcome = told));
  expect(outcome).toBeUndefined();
  await Promise.resolve();
  expect(outcome).toEqual({ kind: "match", index: 11, text: "ready." });
  expect(metrics.numbers.wait_regex_compiles_total).toBe(0);
  alone.run(regex, Buffer.from("ready.\n"), 0, (told) => (outcome = told));
  alone.close();
  await Promise.resolve();
  expect(outcome).toMatchObject({ kind: "failed", error: { code: "SHUTTING_DOWN" } });
});

test("what a turn has no time for waits for the next one", async () => {
  const hurried = new TurnBudget({ clock: systemClock, budgetMs: 0 });
  const alone = new RegexEngine({ clock: systemClock, scheduler, budget: hurried, limits, metrics: new WaitMetrics() });
  const regex = alone.acquire(analyseRegex("ready$", MULTILINE, limits));
  let done = 0;
  for (let job = 0; job < 3; job += 1) alone.run(regex, Buffer.from("not ready yet\n"), 0, () => (done += 1));
  for (let turn = 1; turn <= 3; turn += 1) {
    await Promise.resolve();
    expect(done).toBe(turn);
    await new Promise((resolve) => setImmediate(resolve));
  }
  alone.close();
});

test("a regex is the worker's when its pieces take long, and one slow piece is forgotten", async () => {
  let nowMs = 0;
  let takesMs = 2;
  // Each look at the time is later by what a piece takes.
  const clock = { ...systemClock, nowMs: () => (nowMs += takesMs) };
  const alone = new RegexEngine({ clock, scheduler, budget, limits, metrics: new WaitMetrics() });
  const regex = alone.acquire(analyseRegex("ready$", MULTILINE, limits));
  /** Whether the outcome comes without the worker, which takes many turns. */
  const isJudgedHere = async (): Promise<boolean> => {
    let isHere = false;
    const told = new Promise<void>((resolve) => {
      alone.run(regex, Buffer.from("not ready yet\n"), 0, () => {
        isHere = true;
        resolve();
      });
    });
    await Promise.resolve();
    const wasHere = isHere;
    await told;
    return wasHere;
  };
  const slow = [await isJudgedHere(), await isJudgedHere()];
  takesMs = 0;
  const quick = await isJudgedHere();
  takesMs = 2;
  for (let job = 0; job < 4; job += 1) slow.push(await isJudgedHere());
  expect([...slow, quick]).toEqual([true, true, true, true, true, false, true]);
  alone.close();
});

test("a waiter that throws is told once, and the next one is told", async () => {
  const errors: unknown[] = [];
  const watched = new TurnBudget({ clock: systemClock, onError: (error) => errors.push(error) });
  const alone = new RegexEngine({ clock: systemClock, scheduler, budget: watched, limits, metrics: new WaitMetrics() });
  const regex = alone.acquire(analyseRegex("ready$", MULTILINE, limits));
  alone.run(regex, Buffer.from("ready\n"), 0, () => {
    throw new Error("of the waiter");
  });
  const next = new Promise<RegexOutcome>((resolve) => alone.run(regex, Buffer.from("ready\n"), 0, resolve));
  // The task is asked for again by whoever comes next, as by any output.
  await Promise.resolve();
  alone.run(regex, Buffer.from("ready\n"), 0, () => undefined);
  expect(await next).toMatchObject({ kind: "match" });
  expect(errors).toHaveLength(1);
  alone.close();
});
