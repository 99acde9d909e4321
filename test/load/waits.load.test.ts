/**
 * Waits under load, with the figures as JSON lines. Asserted loosely: machines differ and are noisy; the benches
 * (`bench/waitsBench.ts`) measure against a baseline.
 */
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { flood, manager, pane } from "../../bench/waitBench.ts";
import { errorOf } from "../unit/daemon/waits/waitFixture.ts";

const TIMEOUT_MS = 600_000;
const silent = (): void => undefined;
const report = (figure: string, values: object): void => {
  process.stdout.write(`${JSON.stringify({ bench: "load", figure, ...values })}\n`);
};

test("1,000 literal waits on a flooding pane: output goes out as without them, and the last line is seen", async () => {
  const stream = pane();
  const waits = manager();
  for (let index = 0; index < 1_000; index++) {
    waits.wait(stream, { pattern: { kind: "literal", text: `never ${index}` }, timeoutMs: TIMEOUT_MS }).catch(silent);
  }
  const last = waits.wait(stream, { pattern: { kind: "literal", text: "the very last line" }, timeoutMs: TIMEOUT_MS });
  const cost = await flood(stream, 3_000);
  stream.take(Buffer.from("the very last line\r\n"));
  stream.announce();
  expect((await last).gaps).toEqual([]);
  expect(cost.delivered).toBe(cost.bytes);
  report("1,000 literals", cost);
  waits.close();
}, 30_000);

test("regexes that hurt: the event loop goes on, the others match, and those too slow are told", async () => {
  const stream = pane();
  const waits = manager();
  const hostile = [".{0,100}Q", "(?:.{1,10}){1,10}Q", "(?:.?){100}Q", "(?:.{0,50}x){2}Q"];
  for (let index = 0; index < 100; index++) {
    const text = index % 5 === 0 ? `${hostile[index % hostile.length]}[0-9]{1,${index + 1}}` : `module ${index}x\\d+`;
    waits.wait(stream, { pattern: { kind: "regex", text }, timeoutMs: TIMEOUT_MS }).catch(silent);
  }
  const last = waits.wait(stream, { pattern: { kind: "regex", text: "^the very la.t line$" }, timeoutMs: TIMEOUT_MS });
  await waits.checkPattern({ kind: "regex", text: "compiled" });
  const cost = await flood(stream, 3_000);
  stream.take(Buffer.from("\r\nthe very last line\r\n"));
  stream.announce();
  await last;
  const { wait_regex_watchdog_total: ended, wait_regex_jobs_total: jobs } = waits.metrics();
  report("100 regexes", { ...cost, ended, jobs });
  expect(jobs).toBeGreaterThan(20);
  // Ten times the goal: a machine that is busy with other things must not fail here.
  expect(cost.delayP99Ms).toBeLessThan(100);
  waits.close();
}, 60_000);

test("regexes one after another while output goes on: none misses its line, however late RE2 responds", async () => {
  const stream = pane();
  const waits = manager();
  let printed = 0;
  const print = (count: number): void => {
    const lines = Array.from({ length: count }, () => `this is line-${printed++}-end of it\r\n`);
    stream.take(Buffer.from(lines.join("")));
    stream.announce();
  };
  let bytes = 0;
  for (let round = 0; round < 500; round++) {
    // The first words are the prefilter's, the number is RE2's: sometimes it is asked more than once.
    const wanted = `line-${printed + (round % 3)}-end`;
    const wait = waits.wait(stream, { pattern: { kind: "regex", text: `line-${wanted.slice(5, -4)}-e.d` } });
    const from = stream.outputSeq;
    const going = (): Promise<undefined> => nextTurn(undefined);
    do print(250);
    while ((await Promise.race([wait, going()])) === undefined);
    bytes += stream.outputSeq - from;
    const { matched, gaps } = await wait;
    expect({ text: matched[0]?.text, gaps }).toEqual({ text: wanted, gaps: [] });
  }
  report("500 regexes in a row", { bytes });
  waits.close();
}, 120_000);

test("100,000 different regexes one after another: the worker lives and memory stays", async () => {
  const stream = pane();
  const waits = manager();
  const rss: number[] = [];
  for (let index = 0; index < 100_000; index++) {
    const wait = waits.wait(stream, {
      pattern: { kind: "regex", text: `v${index}[a-f]+\\d{1,9} ok` },
      timeoutMs: TIMEOUT_MS,
    });
    stream.take(Buffer.from(`v${index}abc12 ok\r\n`));
    stream.announce();
    await wait;
    if (index % 10_000 === 9_999) rss.push(Math.round(process.memoryUsage().rss / 1e6));
  }
  // What the last wait held is given back behind whoever awaits it.
  await expect.poll(() => waits.metrics().wait_matchers).toBe(0);
  const metrics = waits.metrics();
  report("100,000 regexes", { rssMb: rss, compiles: metrics.wait_regex_compiles_total });
  expect(metrics).toMatchObject({
    wait_regex_crashes_total: 0,
    wait_regex_watchdog_total: 0,
    wait_active: 0,
  });
  expect((rss.at(-1) ?? 0) - (rss[1] ?? 0)).toBeLessThan(60);
  waits.close();
}, 240_000);

test("20,000 timeouts in two seconds: every one comes, none is forgotten", async () => {
  const stream = pane();
  const waits = manager();
  const late: number[] = [];
  const all: Promise<void>[] = [];
  for (let burst = 0; burst < 100; burst++) {
    for (let index = 0; index < 200; index++) {
      const startMs = performance.now();
      const wait = waits.wait(stream, { pattern: { kind: "literal", text: `never ${index}` }, timeoutMs: 100 });
      all.push(wait.then(silent, () => void late.push(performance.now() - startMs - 100)));
    }
    await delay(20);
  }
  await Promise.all(all);
  late.sort((a, b) => a - b);
  report("timeout churn", { lateP50Ms: late[10_000], lateP99Ms: late[19_800] });
  expect(waits.metrics()).toMatchObject({ wait_timeouts_total: 20_000, wait_active: 0, wait_matchers: 0 });
  expect(late[0]).toBeGreaterThan(-2);
  waits.close();
}, 60_000);

test("callers that leave free their waits at once, thousands of them", async () => {
  const stream = pane();
  const waits = manager();
  const leaving = Array.from({ length: 5_000 }, () => new AbortController());
  const results = leaving.map(({ signal }, index) =>
    errorOf(waits.wait(stream, { pattern: { kind: "literal", text: `x${index}` }, timeoutMs: TIMEOUT_MS }, { signal })),
  );
  await flood(stream, 300);
  const startMs = performance.now();
  for (const caller of leaving) caller.abort();
  const freedMs = performance.now() - startMs;
  expect(waits.metrics()).toMatchObject({ wait_active: 0, wait_matchers: 0 });
  for (const error of await Promise.all(results)) expect(error.name).toBe("AbortError");
  report("5,000 callers leave", { freedMs });
  waits.close();
}, 60_000);
