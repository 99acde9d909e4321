/**
 * `npm run bench [-- NAME…] [--json | --markdown] [--short] [--seconds N] [--jobs JOB,…]`: runs the named benches, or all of them, one
 * after the other. Progress is on stderr, the tables come at the end on stdout. With `--json`, stdout has one JSON line per
 * figure, as it is measured, and nothing else, so that it can be kept and compared; what goes wrong is on stderr, with
 * exit code 1.
 */
import { parseArgs } from "node:util";
import type { BenchRow, BenchRun, Figure, RunBench } from "./figures.ts";
import { removePrivateServers } from "./privateServer.ts";
import { tablesOf } from "./tables.ts";

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
  peers: () => import("./peers/peersBench.ts"),
};

const rowOf = ({ bench, figure, unit, median, p90, baseline, ratio, samples }: Figure): BenchRow => ({
  bench,
  table: bench,
  cells: {
    figure,
    unit,
    median,
    p90: p90 ?? "",
    against: baseline.name,
    "its median": baseline.median,
    ratio,
    samples,
  },
});

const USAGE = `npm run bench -- [NAME...] [--json | --markdown] [--short] [--seconds N] [--jobs JOB,...]
Names (default: all): ${Object.keys(BENCHES).join(", ")}
`;

/** @throws Error that names the argument */
function argumentsOf(args: readonly string[]) {
  const { values, positionals: names } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: "boolean", short: "h", default: false },
      json: { type: "boolean", default: false },
      markdown: { type: "boolean", default: false },
      short: { type: "boolean", default: false },
      seconds: { type: "string" },
      jobs: { type: "string" },
    },
  });
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    throw new Error(`no bench ${unknown.join(", ")}; there are ${Object.keys(BENCHES).join(", ")}`);
  }
  const followSec = values.seconds === undefined ? undefined : Number(values.seconds);
  if (followSec !== undefined && !(followSec > 0)) throw new Error("--seconds must be a number above 0");
  return { values, names, followSec };
}

async function report({ values, names, followSec }: ReturnType<typeof argumentsOf>): Promise<void> {
  const rows: BenchRow[] = [];
  const progress = (text: string): void => void process.stderr.write(`${text}\n`);
  const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
  const run: BenchRun = {
    isShort: values.short,
    followSec,
    jobs: values.jobs?.split(","),
    row: (row) => {
      if (values.json) print({ bench: row.bench, ...(row.figures ?? { table: row.table, ...row.cells }) });
      else rows.push(row);
    },
    progress,
  };
  const emit = (figure: Figure): void => {
    const { median, unit, baseline, ratio } = figure;
    progress(`  ${figure.figure}: ${median} ${unit}, ${ratio} of ${baseline.name}`);
    if (values.json) print(figure);
    else rows.push(rowOf(figure));
  };
  for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
    progress(name);
    const bench = await BENCHES[name]!();
    await bench.run(emit, run);
  }
  if (!values.json) process.stdout.write(tablesOf(rows, values.markdown));
}

const stop = (): void => {
  removePrivateServers();
  process.exit(1);
};
process.once("SIGINT", stop).once("SIGTERM", stop);
// Whoever reads the figures has seen enough.
process.stdout.once("error", stop);

function asked(): ReturnType<typeof argumentsOf> | undefined {
  try {
    const found = argumentsOf(process.argv.slice(2));
    if (!found.values.help) return found;
    process.stdout.write(USAGE);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}`);
    process.exitCode = 2;
  }
  return undefined;
}

try {
  const found = asked();
  if (found !== undefined) await report(found);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  // Other processes of the bench may still be connected, and would keep this one.
  stop();
}
