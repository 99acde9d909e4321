/**
 * How long `GET /health` takes while a pane floods and regexes that are said to hurt look at all of it: the client gives it
 * 900 ms before every call and takes a late one for a daemon that is gone. `npm run bench -- health`.
 */
import { setTimeout as delay } from "node:timers/promises";
import { Connections, type DaemonProcess, startDaemon } from "./addinDaemon.ts";
import { check, type Emit, figureOf, quantile, timed } from "./figures.ts";

const SAMPLES = 3_000;
const HOLD_P99_MS = 20;
const FLOODED = "flood";
/** What makes a backtracking engine take for ever: a line of the same letter, and one that does not belong. */
const FLOOD = `exec yes ${"a".repeat(60)}!`;
const HOSTILE = ["^(a+)+$", "(a|aa)+$", "^(?:a?){30}a{30}!b", "(?:.{1,10}){1,10}Q"];

export async function run(emit: Emit): Promise<void> {
  await using daemon = await startDaemon();
  const quiet = await sample(daemon);
  const flooded = await withFlood(daemon, () => sample(daemon));
  for (const [name, ms] of [
    ["p50", 0.5],
    ["p99", 0.99],
  ] as const) {
    const figure = `GET /health while ^(a+)+$ and a flooding pane run, ${name}`;
    const comparison = { bench: "health", figure, unit: "ms" };
    emit(figureOf(comparison, [quantile(flooded, ms)], `quiet daemon, ${name}`, [quantile(quiet, ms)]));
  }
  const p99 = [quantile(flooded, 0.99)];
  emit(figureOf({ bench: "health", figure: "the same p99", unit: "ms" }, p99, "hold", [HOLD_P99_MS]));
}

async function sample({ port }: DaemonProcess): Promise<number[]> {
  using connections = new Connections(port);
  const samples: number[] = [];
  for (let at = 0; at < SAMPLES; at += 1) {
    samples.push(await timed(async () => check((await connections.health()).ok, "not healthy")));
    await delay(1);
  }
  return samples;
}

/** Waits go on through all of it: each is asked again as soon as it has ended, whatever became of it. */
async function withFlood<Result>({ port }: DaemonProcess, measure: () => Promise<Result>): Promise<Result> {
  using connections = new Connections(port);
  const ask = (body: object): ReturnType<Connections["post"]> => connections.post({ session: FLOODED, ...body });
  check((await ask({ action: "create_session" })).ok, "no session");
  check((await ask({ action: "send_keys", text: FLOOD, enter: true })).ok, "no flood");
  const over = new AbortController();
  let waits = 0;
  const waiting = HOSTILE.map(async (pattern) => {
    while (!over.signal.aborted) {
      // 408 when the time is over, 429 once RE2 was given up on: both are responses.
      await ask({ action: "send_and_capture", text: "", wait_for: pattern, timeout_ms: 1_000 }).catch(() => undefined);
      waits += 1;
    }
  });
  try {
    return await measure();
  } finally {
    over.abort();
    await Promise.all(waiting);
    check(waits >= HOSTILE.length, "no wait ever ran");
    await ask({ action: "kill_session" });
  }
}
