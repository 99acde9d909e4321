/**
 * Waits over a flooding pane: what literals, regexes, stable windows, idle waits and timeouts cost, each against the same
 * work without them (issue "Waits", seed 002 §16.18). `node dist/bench/waitsBench.js`, or `npm run bench -- waits`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { systemClock } from "../daemon/time/clock.ts";
import type { WaitManager } from "../daemon/waits/waitManager.ts";
import { check, figureOf, type Emit } from "./figures.ts";
import { costPerMb, flood, FLOOD_BYTES_PER_SEC, manager, pane } from "./waitBench.ts";

const ROUNDS = 5;
const TIMEOUT_MS = 600_000;
const silent = (): void => undefined;

const addLiterals = (waits: WaitManager, source: ReturnType<typeof pane>, count: number): void => {
  for (let index = 0; index < count; index++) {
    const text = `job ${(index * 7_919) % 100_003} has finished`;
    waits.wait(source, { pattern: { kind: "literal", text }, timeoutMs: TIMEOUT_MS }).catch(silent);
  }
};

/** Share of a core that matching takes at a flood, from CPU time per megabyte with and without. */
async function literals(emit: Emit): Promise<void> {
  for (const count of [1, 10, 100, 1_000, 10_000]) {
    const [withWaits, without] = [pane(), pane()];
    const waits = manager();
    addLiterals(waits, withWaits, count);
    await costPerMb(withWaits, 8);
    await costPerMb(without, 8);
    const ours: number[] = [];
    const baseline: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      baseline.push(await costPerMb(without, 8));
      ours.push(await costPerMb(withWaits, 8));
    }
    const { wait_active: active, wait_gaps_total: gaps } = waits.metrics();
    check(active === count && gaps === 0, `${count} literals: ${active} left, ${gaps} gaps`);
    waits.close();
    const comparison = { bench: "waits", figure: `${count} literals, CPU per MB of output`, unit: "ms" };
    emit(figureOf(comparison, ours, "no waits", baseline));
    const shares = ours.map((ms, round) => ((ms - (baseline[round] ?? 0)) * FLOOD_BYTES_PER_SEC) / 1e6 / 10);
    emit(
      figureOf(
        { bench: "waits", figure: `${count} literals at 10 MB/s, share of a core`, unit: "%" },
        shares,
        "hold",
        [5],
      ),
    );
  }
}

/** What a subscriber of the same pane gets, with and without waits on it. */
async function fanOut(emit: Emit): Promise<void> {
  const ours: number[] = [];
  const baseline: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const [withWaits, without] = [pane(), pane()];
    const waits = manager();
    addLiterals(waits, withWaits, 1_000);
    // Faster than tmux can: what is lost must show.
    const cost = await flood(without, 400, 20_000_000);
    baseline.push(cost.delivered / cost.elapsedMs / 1_000);
    const loaded = await flood(withWaits, 400, 20_000_000);
    ours.push(loaded.delivered / loaded.elapsedMs / 1_000);
    waits.close();
  }
  emit(figureOf({ bench: "waits", figure: "fan-out with 1,000 literals", unit: "MB/s" }, ours, "no waits", baseline));
}

/** Ordinary ones with and without a required literal, and such as are made to hurt. */
const REGEXES = [
  "module \\d+x",
  "^job \\d+ (?:done|failed)$",
  "error\\[E\\d{4}\\]",
  "\\$ $",
  "^\\d+ tests? passed",
  "[0-9a-f]{40}",
  "(?i)warning: .*",
];
const HOSTILE = [
  "^(a+)+$",
  ".{0,100}Q",
  "(?:.{1,10}){1,10}Q",
  "(?:.?){100}Q",
  "(.*)(.*)(.*)(.*)(.*)Q",
  "(?:[a-z]{1,50} ?)*Q",
];

async function regexes(emit: Emit): Promise<void> {
  const quiet = pane();
  const { delayP99Ms: baseline } = await flood(quiet, 1_000);
  for (const count of [1, 16, 100]) {
    const stream = pane();
    const waits = manager();
    for (let index = 0; index < count; index++) {
      const kinds = index % 5 === 4 ? HOSTILE : REGEXES;
      const text = `(?:${kinds[index % kinds.length]})|never${index}`;
      waits.wait(stream, { pattern: { kind: "regex", text }, timeoutMs: TIMEOUT_MS }).catch(silent);
    }
    await waits.checkPattern({ kind: "regex", text: "compiled" });
    const cost = await flood(stream, 3_000);
    const { wait_regex_jobs_total: jobs, wait_regex_watchdog_total: ended } = waits.metrics();
    check(jobs > 0 && waits.metrics().wait_active > 0, "no regex was evaluated");
    waits.close();
    const figure = `${count} regexes, hostile ones among them (${ended} ended): event loop delay p99 at 10 MB/s`;
    emit(figureOf({ bench: "waits", figure, unit: "ms" }, [cost.delayP99Ms], "no waits", [baseline]));
  }
}

async function differentRegexes(emit: Emit): Promise<void> {
  const stream = pane();
  const waits = manager();
  const rssMb = (): number => process.memoryUsage().rss / 1e6;
  const times: number[] = [];
  let before = 0;
  for (let index = 0; index < 20_000; index++) {
    if (index === 5_000) before = rssMb();
    const startMs = performance.now();
    const wait = waits.wait(stream, {
      pattern: { kind: "regex", text: `v${index}[a-f]+\\d{1,9} (?:ok|no)$` },
      timeoutMs: TIMEOUT_MS,
    });
    stream.take(Buffer.from(`v${index}abc12 ok\r\n`));
    stream.announce();
    await wait;
    times.push(performance.now() - startMs);
  }
  check(waits.metrics().wait_regex_crashes_total === 0, "the worker did not survive");
  waits.close();
  emit(
    figureOf(
      { bench: "waits", figure: "20,000 different regexes, each compiled and matched", unit: "ms" },
      times,
      "watchdog",
      [50],
    ),
  );
  const figure = "20,000 different regexes, memory after all";
  emit(figureOf({ bench: "waits", figure, unit: "MB" }, [rssMb()], "after 5,000", [before]));
}

/** A regex that fills the heap of RE2 although the admission limits were lifted for it. */
async function exhausting(emit: Emit): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 3; round++) {
    const waits = manager({ maxRegexRepetition: 1e9, maxRegexCost: 1e12 });
    const stream = pane();
    const good = waits.wait(stream, { pattern: { kind: "regex", text: "all \\d+ fine" }, timeoutMs: TIMEOUT_MS });
    await waits.checkPattern({ kind: "regex", text: "ready" });
    const startMs = performance.now();
    const bad = await waits.checkPattern({ kind: "regex", text: "[\\p{L}\\d]{1000}" }).catch((error: unknown) => error);
    check(bad instanceof Error, "the regex was accepted");
    stream.take(Buffer.from("all 12 fine\r\n"));
    stream.announce();
    await good;
    times.push(performance.now() - startMs);
    waits.close();
  }
  emit(
    figureOf(
      { bench: "waits", figure: "regex that exhausts RE2: until its neighbour matches", unit: "ms" },
      times,
      "hold",
      [1_000],
    ),
  );
}

async function stable(emit: Emit): Promise<void> {
  const [withWaits, without] = [pane(), pane()];
  const waits = manager();
  for (let index = 0; index < 10_000; index++) {
    waits.wait(withWaits, { stableSec: 30 + (index % 100), timeoutMs: TIMEOUT_MS }).catch(silent);
  }
  const byte = Buffer.from("x");
  const chunks = 200_000;
  const perChunkNs = (stream: ReturnType<typeof pane>): number => {
    const startMs = performance.now();
    for (let index = 0; index < chunks; index++) {
      stream.take(byte);
      stream.announce();
    }
    return ((performance.now() - startMs) * 1e6) / chunks;
  };
  perChunkNs(withWaits);
  perChunkNs(without);
  const ours: number[] = [];
  const baseline: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    baseline.push(perChunkNs(without));
    ours.push(perChunkNs(withWaits));
    await delay(1);
  }
  check(waits.metrics().wait_active === 10_000, "stable waits ended");
  waits.close();
  emit(
    figureOf(
      { bench: "waits", figure: "10,000 stable waits, per output chunk", unit: "ns" },
      ours,
      "no waits",
      baseline,
    ),
  );
}

async function idle(emit: Emit): Promise<void> {
  const waits = manager();
  const cost = async (): Promise<number> => {
    const before = process.cpuUsage();
    await delay(1_000);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  const baseline = await cost();
  for (let index = 0; index < 500; index++) {
    const source = pane(`%${index}`);
    const text = `never ${index}`;
    const pattern = index % 10 === 0 ? ({ kind: "regex", text } as const) : ({ kind: "literal", text } as const);
    waits.wait(source, { pattern, stableSec: 500, timeoutMs: TIMEOUT_MS }).catch(silent);
  }
  await delay(200);
  const ours = await cost();
  waits.close();
  emit(
    figureOf({ bench: "waits", figure: "500 waits on idle panes, CPU per second", unit: "ms" }, [ours], "no waits", [
      baseline,
    ]),
  );
}

/** 10,000 waits a second that all time out, on one pane. */
async function timeoutChurn(emit: Emit): Promise<void> {
  const waits = manager();
  const stream = pane();
  const ended: Promise<void>[] = [];
  const cpu = process.cpuUsage();
  const startMs = systemClock.nowMs();
  while (ended.length < 20_000) {
    const due = Math.min(20_000, (systemClock.nowMs() - startMs) * 10);
    while (ended.length < due) {
      const text = `never ${ended.length % 1_000}`;
      const timeoutMs = 50 + (ended.length % 50);
      ended.push(waits.wait(stream, { pattern: { kind: "literal", text }, timeoutMs }).then(silent, silent));
    }
    await delay(1);
  }
  await Promise.all(ended);
  const { user, system } = process.cpuUsage(cpu);
  check(waits.metrics().wait_timeouts_total === 20_000 && waits.metrics().wait_active === 0, "timeouts are missing");
  waits.close();
  const perWaitUs = (user + system) / ended.length;
  emit(
    figureOf(
      { bench: "waits", figure: "timeout churn at 10,000/s, CPU per wait", unit: "µs" },
      [perWaitUs],
      "hold",
      [100],
    ),
  );
}

const PARTS = { literals, fanOut, regexes, differentRegexes, exhausting, stable, idle, timeoutChurn };

export async function run(emit: Emit): Promise<void> {
  for (const part of Object.values(PARTS)) await part(emit);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const named = process.argv.slice(2);
  for (const [name, part] of Object.entries(PARTS)) {
    if (named.length > 0 && !named.includes(name)) continue;
    await part((figure) => process.stdout.write(`${JSON.stringify(figure)}\n`));
  }
}
