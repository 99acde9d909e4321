/**
 * A daemon that can always be started again. `RESTART_CYCLES` (200), `RESTART_SEED` (1) and `RESTART_SECONDS` (1,500) say
 * how often, at which moments and for how long at most: a hold may be split into several runs.
 */
import { expect, test } from "vitest";
import { privateSocket } from "../support/tmux/ownedFixture.ts";
import { report, sinceMs, spread } from "../support/daemon/loadReport.ts";
import { restarts } from "../support/daemon/restartScenario.ts";
import { spawnSync } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { restartField } from "../support/daemon/restartField.ts";

/** The field's daemon ended at moments of a seed, while it starts and while it serves, and started again each time. */
const NOT_SLOWED_MS = 3_000;
/** A start takes about half of this on an idle machine. */
const STARTING_MS = 1_000;
const SERVING_MS = 400;

interface RestartHold {
  readonly tmux: string;
  readonly seed: number;
  /** Fewer than were wanted when the time was over. */
  readonly cycles: number;
  /** Of these ended before the start was done. */
  readonly endedStarting: number;
  readonly killed: number;
  readonly ready: ReturnType<typeof spread>;
  /** Starts while something else kept the machine busy, which were given longer. */
  readonly slowed: number;
  /** From SIGTERM to the end of the process. */
  readonly stopped: ReturnType<typeof spread>;
  /** Starts that took longer than they may. */
  readonly slow: readonly string[];
  /** What was found that belongs to no living daemon, and after which cycle. */
  readonly left: readonly string[];
}

/** @throws Error when a start fails, with what the daemon wrote */
async function holdRestarts(wanted: number, seed: number, withinSec: number): Promise<RestartHold> {
  const endMs = performance.now() + withinSec * 1_000;
  const random = randomOf(seed);
  const [readyMs, stoppedMs, slow, left]: [number[], number[], string[], string[]] = [[], [], [], []];
  let [cycles, endedStarting, killed, slowed] = [0, 0, 0, 0];
  await using field = await restartField();
  const end = async (running: Parameters<typeof field.end>[0]): Promise<void> => {
    const signal = random() < 0.5 ? "SIGKILL" : "SIGTERM";
    const startMs = performance.now();
    await field.end(running, signal);
    if (signal === "SIGKILL") killed += 1;
    else stoppedMs.push(sinceMs(startMs));
  };
  for (let cycle = 1; cycle <= wanted && performance.now() < endMs; cycle += 1) {
    cycles = cycle;
    if (random() < 0.3) {
      const starting = field.launch();
      await delay(random() * STARTING_MS);
      await end(starting);
      endedStarting += 1;
      continue;
    }
    const daemon = await field.start();
    readyMs.push(daemon.readyMs);
    if (daemon.limitMs > NOT_SLOWED_MS) slowed += 1;
    if (daemon.readyMs > daemon.limitMs) slow.push(`cycle ${cycle}: ${daemon.readyMs} ms of ${daemon.limitMs}`);
    if (random() < 0.8) await field.watch(daemon);
    // Looking costs more than a restart: now and then, and after the last.
    if (cycle % 10 === 0)
      left.push(...(await field.leftovers(daemon.process.pid)).map((what) => `cycle ${cycle}: ${what}`));
    await delay(random() * SERVING_MS);
    await end(daemon.process);
  }
  const last = await field.start();
  readyMs.push(last.readyMs);
  left.push(...(await field.leftovers(last.process.pid)));
  await field.end(last.process, "SIGTERM");
  left.push(...(await field.leftovers()));
  const tmux = spawnSync("tmux", ["-V"], { encoding: "utf8" }).stdout.trim();
  return {
    tmux,
    seed,
    cycles,
    endedStarting,
    killed,
    ready: spread(readyMs),
    slowed,
    stopped: spread(stoppedMs),
    slow,
    left,
  };
}

/** mulberry32: the same numbers for the same seed, in [0, 1). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

test("100 restarts in a flood", async () => {
  await using socket = privateSocket();
  const result = await restarts(socket, 100);
  report("restarts", { ...result });
  expect(result).toMatchObject({ programsLost: 0, operationsFailed: 0, mostHubs: 1, mostHooks: 3 });
});

test.runIf(process.platform === "linux")("ended at any moment, with every adapter on", async () => {
  const cycles = Number(process.env["RESTART_CYCLES"] ?? 200);
  const seed = Number(process.env["RESTART_SEED"] ?? 1);
  const withinSec = Number(process.env["RESTART_SECONDS"] ?? 1_500);
  const result = await holdRestarts(cycles, seed, withinSec);
  report("restart hold", { ...result });
  expect(result).toMatchObject({ slow: [], left: [] });
  expect(result.cycles).toBeGreaterThan(0);
});
