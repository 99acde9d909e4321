/**
 * `npm run bench [-- NAME…]`: runs the named benches, or all of them, one after the other. One JSON line per figure on
 * stdout and nothing else, so that the output can be kept and compared; what goes wrong is on stderr, with exit code 1.
 */
import type { Emit, RunBench } from "./figures.ts";
import { removePrivateServers } from "./privateServer.ts";

interface BenchModule {
  readonly run: RunBench;
}

const BENCHES: Readonly<Record<string, () => Promise<BenchModule>>> = {
  roundTrip: () => import("./roundTrip.ts"),
  capture: () => import("./captureBench.ts"),
  decode: () => import("./decode.ts"),
  throughput: () => import("./throughput.ts"),
  http: () => import("./http.ts"),
  health: () => import("./health.ts"),
  pace: () => import("./pace.ts"),
  native: () => import("./native.ts"),
  fanout: () => import("./fanout.ts"),
  waits: () => import("./waitsBench.ts"),
  waitLatency: () => import("./waitLatency.ts"),
  commandLine: () => import("./commandLine.ts"),
};

const emit: Emit = (figure) => process.stdout.write(`${JSON.stringify(figure)}\n`);

async function report(names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    throw new Error(`no bench ${unknown.join(", ")}; there are ${Object.keys(BENCHES).join(", ")}`);
  }
  for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
    const bench = await BENCHES[name]!();
    await bench.run(emit);
  }
}

const stop = (): void => {
  removePrivateServers();
  process.exit(1);
};
process.once("SIGINT", stop).once("SIGTERM", stop);
// Whoever reads the figures has seen enough.
process.stdout.once("error", stop);

try {
  await report(process.argv.slice(2));
} catch (error) {
  removePrivateServers();
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
