import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { systemClock } from "../../daemon/time/clock.ts";
import { Scheduler } from "../../daemon/time/scheduler.ts";
import { TurnBudget } from "../../daemon/time/turnBudget.ts";
import { findPlain, plainRegex } from "../../daemon/waits/regex/plainRegex.ts";
import { analyseRegex } from "../../daemon/waits/regex/regexAnalysis.ts";
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
/** What they match is often in the text, and often not at an end of a line. */
const CHARACTERS = ["a", "b", "$", ".", "\u00e9", "\u65e5", "\u{1f600}", "\ufffd"];
const ESCAPED: Readonly<Record<string, string>> = { $: "\\$", ".": "\\." };
const piece = fc.array(fc.constantFrom(...CHARACTERS), { minLength: 1, maxLength: 3 });
const text = fc.array(fc.constantFrom(...CHARACTERS, "\n", "\n"), { maxLength: 24 }).map((all) => all.join(""));

const ask = (pattern: string, bytes: Uint8Array, skip: number): Promise<RegexOutcome> => {
  const regex = engine.acquire(analyseRegex(pattern, MULTILINE, limits));
  const outcome = new Promise<RegexOutcome>((resolve) => engine.run(regex, bytes, skip, resolve));
  return outcome.finally(() => engine.release(regex));
};

test("what is judged without RE2 is judged as RE2 does", async () => {
  const [starts, ends, skips] = [fc.constantFrom("", "^"), fc.constantFrom("", "$"), fc.constantFrom(0, 1)];
  await fc.assert(
    fc.asyncProperty(starts, piece, ends, text, skips, async (start, literal, end, all, skip) => {
      const pattern = `${start}${literal.map((one) => ESCAPED[one] ?? one).join("")}${end}`;
      const plain = plainRegex(pattern, MULTILINE);
      expect(plain).toBeDefined();
      const bytes = Buffer.from(all);
      const found = findPlain(plain!, bytes, skip);
      const outcome = await ask(`(?:${pattern})`, bytes, skip);
      if (outcome.kind === "match") expect(found).toEqual({ index: outcome.index, text: outcome.text });
      else expect(found).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test.each([
  "a+",
  "a|b",
  "[ab]",
  "(a)",
  "\\d",
  "\\bab",
  "a.c",
  "",
  "^",
  "$",
  "^$",
  "a\\",
  "a$b",
  "a^",
  "a{2}",
  "\\Qa\\E",
  "a\n",
])("%j is RE2's", (pattern) => {
  expect(plainRegex(pattern, MULTILINE)).toBeUndefined();
  expect(analyseRegex(`${pattern}b+`.replace("\\b+", "b+"), MULTILINE, limits).plain).toBeUndefined();
});

test("case and ends of the whole text are RE2's", () => {
  expect(plainRegex("ready", { ...MULTILINE, ignoreCase: true })).toBeUndefined();
  expect(plainRegex("ready$", { ...MULTILINE, multiline: false })).toBeUndefined();
  expect(plainRegex("ready", { ...MULTILINE, multiline: false })?.text).toBe("ready");
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
