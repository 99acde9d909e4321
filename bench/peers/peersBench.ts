/**
 * The same jobs with what people use today, each as its ordinary user would write it, in one run: `npm run bench -- peers`.
 * Each peer is a process of its own (`…Peer.*`) on servers of its own. What counts is what a caller learns: what it was
 * never told, or was told wrongly, is a mistake, whatever it took.
 */
import { spawnSync } from "node:child_process";
import { accessSync, closeSync, constants, existsSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { loadavg } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BenchRun, check, quantile, type RunBench } from "../figures.ts";
import { ECHO } from "../echoBench.ts";
import { privateSocket } from "../privateServer.ts";
import { END_OF_LINES, PAUSE_MS, POLL_MS, unixMsNow } from "./peerDriver.ts";
import { inRepository, peerProgram } from "./peerFiles.ts";
import { PeerProcess } from "./peerProcess.ts";
import { StandIn, type StandInEntry } from "./standIn.ts";

const script = (name: string): string => inRepository(`bench/peers/${name}`);

const JOBS = ["echo", "text", "run", "follow", "lines", "prompts"] as const;
type Job = (typeof JOBS)[number];

const TITLES: Readonly<Record<Job, string>> = {
  echo: "Six bytes typed until their echo is seen",
  text: "A text printed 5 to 500 ms later: how long after it was printed it is known",
  run: "A command with its exit status and output",
  follow: "Panes followed",
  lines: "Lines printed at once",
  prompts: "Prompts into a program that asks a question in between",
};

interface Peer {
  readonly name: string;
  /** How it sees what a pane prints. */
  readonly way: string;
  /** What runs the driver; a text says why nothing can. */
  readonly argv: readonly [string, ...string[]] | string;
  readonly only?: readonly Job[];
  readonly why?: string;
}

/** Where the library is found: the one on the PATH may be another than the system's. */
function pythonWithLibtmux(): string | undefined {
  const has = (python: string): boolean => spawnSync(python, ["-c", "import libtmux"]).status === 0;
  return ["python3", "/usr/bin/python3"].find(has);
}

function onPath(name: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

function peers(): readonly Peer[] {
  const python = pythonWithLibtmux();
  const node = process.execPath;
  return [
    { name: "tmuxwire", way: "typed client, unix socket, no polling", argv: [node, peerProgram("tmuxwirePeer")] },
    {
      name: "tmux processes",
      way: `send-keys, capture-pane every ${POLL_MS} ms; wait-for after a command`,
      argv: [node, peerProgram("tmuxPeer")],
    },
    {
      name: "tmux pipe-pane",
      way: `into files, read every ${POLL_MS} ms`,
      argv: [node, peerProgram("tmuxPeer")],
      only: ["follow", "lines"],
      why: "it only follows",
    },
    {
      name: "libtmux",
      way: `send_keys, capture_pane every ${POLL_MS} ms`,
      argv: python === undefined ? "not found" : [python, script("libtmuxPeer.py")],
    },
    {
      name: "expect",
      way: "its own pty, no polling; others cannot see the pane",
      argv: onPath("expect") ? ["expect", "-f", script("expectPeer.exp")] : "not found",
    },
    { name: "node-pty", way: "its own pty, onData; others cannot see the pane", argv: [node, peerProgram("ptyPeer")] },
  ];
}

/** Only looked for: this bench has no drivers for them. */
const OTHERS = ["herdr", "rmux", "zellij", "agentapi", "tmux-mcp", "libtmux-mcp"];

interface Counts {
  readonly rounds: number;
  readonly echo: number;
  readonly text: number;
  readonly run: number;
  readonly panes: number;
  readonly followSec: number;
  readonly lines: number;
  readonly prompts: number;
}

const FULL: Counts = {
  rounds: 2,
  echo: 100,
  text: 50,
  run: 40,
  panes: 20,
  followSec: 60,
  lines: 100_000,
  prompts: 100,
};
const SHORT: Counts = { rounds: 1, echo: 4, text: 3, run: 4, panes: 3, followSec: 1, lines: 2_000, prompts: 4 };

/** What a peer did in a job. */
interface Result {
  readonly samples?: readonly number[];
  /** NaN where the system does not say. */
  readonly cpuSec: number;
  readonly mistakes: number;
  readonly of: number;
  readonly more?: Readonly<Record<string, string | number>>;
  /** In one cell: what a reader compares. */
  readonly inShort: string;
}

type Start = (job: Job, count: number, command: string) => PeerProcess;

/** A peer that has not come to its panes, or to an end, within this has hung. */
const READY_WITHIN_MS = 60_000;
const JOB_WITHIN_MS = 300_000;

const ms = (value: number): string => (Number.isNaN(value) ? "" : `${Number(value.toPrecision(3))} ms`);
const missing = (count: number, of: number): string => (count === 0 ? "none lost" : `${count} of ${of} lost`);

/** Starts, measures CPU from `ready` to `done`, and ends. */
async function measured(peer: PeerProcess, work: () => Promise<void> | void = () => undefined) {
  await peer.until("ready", READY_WITHIN_MS);
  const before = peer.cpuSec();
  peer.tell("go");
  await work();
  const said = await peer.until("done", JOB_WITHIN_MS);
  return { said, cpuSec: peer.cpuSec() - before };
}

const numbers = (said: readonly (readonly string[])[], word: string): number[] =>
  said.filter(([first]) => first === word).map((words) => Number(words[1]));

async function echo(start: Start, { echo: count }: Counts): Promise<Result> {
  await using peer = start("echo", count, ECHO[2]!);
  const { said, cpuSec } = await measured(peer);
  const samples = numbers(said, "sample");
  return { samples, cpuSec, mistakes: count - samples.length, of: count, inShort: "" };
}

/** Spread over the range, the same ones for all. */
const lateMs = (count: number): number[] => Array.from({ length: count }, (_, at) => 5 + ((at * 137) % 496));

async function text(start: Start, { text: count }: Counts, directory: string): Promise<Result> {
  const path = join(directory, "late");
  const command = [process.execPath, peerProgram("lateText"), path, ...lateMs(count)].join(" ");
  await using peer = start("text", count, `exec ${command}`);
  const { said, cpuSec } = await measured(peer);
  const printed = new Map(
    readFileSync(path, "utf8")
      .trim()
      .split("\n")
      .map((line) => line.split(" ").map(Number) as [number, number]),
  );
  const samples = said
    .filter(([word]) => word === "known")
    .map(([, at, unixMs]) => Number(unixMs) - printed.get(Number(at))!);
  return { samples, cpuSec, mistakes: count - samples.length, of: count, inShort: "" };
}

/** In turns: a few lines, a line wider than the pane, a part of a line, and more than a screen. */
function commandOf(at: number): { readonly command: string; readonly output: string; readonly status: number } {
  const status = at % 256;
  const numbered = (count: number): string => Array.from({ length: count }, (_, of) => `${of + 1}\n`).join("");
  const [line, output] = (
    [
      ["seq 20", numbered(20)],
      ["printf '%0300d\\n' 7", `${"7".padStart(300, "0")}\n`],
      ["printf part", "part"],
      ["seq 200", numbered(200)],
    ] as const
  )[at % 4]!;
  return { command: `${line}; (exit ${status})`, output, status };
}

async function commands(start: Start, { run: count }: Counts): Promise<Result> {
  await using peer = start("run", count, "export PS1='$ '; exec sh -i");
  const samples: number[] = [];
  let mistakes = 0;
  let before = 0;
  await peer.until("ready", READY_WITHIN_MS);
  before = peer.cpuSec();
  peer.tell("go");
  for (let at = 0; at < count; at += 1) {
    const { command, output, status } = commandOf(at);
    peer.tell(command);
    const [, took, found, hex = ""] = (await peer.until("ran", JOB_WITHIN_MS)).at(-1)!;
    samples.push(Number(took));
    // A screen does not show whether the last line was ended.
    const isRight = Number(found) === status && Buffer.from(hex, "hex").toString("utf8").trimEnd() === output.trimEnd();
    if (!isRight) mistakes += 1;
  }
  const cpuSec = peer.cpuSec() - before;
  return { samples, cpuSec, mistakes, of: count, inShort: "" };
}

/** Ten lines a second in every pane, and each second a hundred at once in one of them, as programs print. */
const TICK_MS = 100;
const BURST_LINES = 100;
const BURST_TICKS = 10;
const SETTLE_MS = 1_000;

const numbered = (at: number): string => `L${String(at).padStart(6, "0")} of what a program prints while it works\n`;

async function follow(start: Start, { panes, followSec }: Counts, directory: string): Promise<Result> {
  await using peer = start("follow", panes, `tty > ${directory}/tty.$$; exec sleep 100000`);
  await peer.until("ready", READY_WITHIN_MS);
  const names = (): string[] =>
    readdirSync(directory)
      .filter((name) => name.startsWith("tty."))
      .map((name) => readFileSync(join(directory, name), "utf8").trim())
      .filter((name) => name.startsWith("/dev/"));
  while (names().length < panes) await delay(20);
  const ttys = names().map((name) => ({ fd: openSync(name, "w"), printed: 0 }));
  const before = peer.cpuSec();
  peer.tell("go");
  const endMs = performance.now() + followSec * 1_000;
  for (let tick = 0; performance.now() < endMs; tick += 1) {
    for (const [at, tty] of ttys.entries()) {
      const isBurst = tick % BURST_TICKS === 0 && (tick / BURST_TICKS) % panes === at;
      for (let line = isBurst ? BURST_LINES : 1; line > 0; line -= 1) writeSync(tty.fd, numbered((tty.printed += 1)));
    }
    await delay(TICK_MS);
  }
  await delay(SETTLE_MS);
  const cpuSec = peer.cpuSec() - before;
  peer.tell("stop");
  const said = await peer.until("done", JOB_WITHIN_MS);
  for (const { fd } of ttys) closeSync(fd);
  const of = ttys.reduce((sum, { printed }) => sum + printed, 0);
  const mistakes = of - numbers(said, "seen").reduce((sum, seen) => sum + seen, 0);
  const percent = Number(((cpuSec / (followSec + SETTLE_MS / 1_000)) * 100).toPrecision(3));
  return {
    cpuSec,
    mistakes,
    of,
    more: { "of a core": `${percent} %` },
    inShort: `${percent} % of a core, ${missing(mistakes, of)}`,
  };
}

async function lines(start: Start, { lines: count }: Counts): Promise<Result> {
  const print = `seq -f 'L%06.0f of what a program prints at once' 1 ${count}`;
  await using peer = start("lines", 1, `read -r go; ${print}; echo ${END_OF_LINES}; exec sleep 100000`);
  const { said, cpuSec } = await measured(peer);
  const samples = numbers(said, "sample");
  const mistakes = count - numbers(said, "seen").reduce((sum, seen) => sum + seen, 0);
  const took = ms(quantile(samples, 0.5));
  return { samples, cpuSec, mistakes, of: count, inShort: `${took}, ${missing(mistakes, count)}` };
}

/** Of ten prompts, this is what happens to the program meanwhile. */
const SCENES = [
  "waits",
  "asks before",
  "waits",
  "asks during",
  "waits",
  "waits",
  "ends",
  "waits",
  "asks during",
  "waits",
];
/** When something happens during a delivery, from its beginning: spread over this. */
const DURING_MS = 700;
/** It is typed into a shell that may be at its interrupt still. */
const LAUNCHED_WITHIN_MS = 10_000;
const LAUNCH_TRIES = 3;
const ARRIVES_WITHIN_MS = 1_500;

async function prompts(start: Start, { prompts: count }: Counts, directory: string): Promise<Result> {
  await using standIn = await StandIn.open(directory);
  await using peer = start("prompts", count, "export PS1='$ '; exec sh -i");
  await peer.until("ready", READY_WITHIN_MS);
  const before = peer.cpuSec();
  const found = { once: 0, refused: 0, lost: 0, question: 0, executed: 0 };
  const took: number[] = [];
  const refusals = new Map<string, number>();
  for (let at = 0; at < count; at += 1) {
    if (!standIn.isRunning) {
      const from = standIn.log.length;
      let tries = 0;
      do {
        check(tries < LAUNCH_TRIES, "the stand-in did not start");
        tries += 1;
        peer.tell(`launch ${standIn.line}`);
      } while (!(await standIn.within(LAUNCHED_WITHIN_MS, () => standIn.has("ready", from))));
    }
    const from = standIn.log.length;
    const canary = join(directory, `ran-${at}`);
    const prompt = `touch ${canary}`;
    const scene = SCENES[at % SCENES.length]!;
    if (scene === "asks before") {
      standIn.tell("ask");
      await standIn.within(READY_WITHIN_MS, () => standIn.has("did", from));
    }
    const startUnixMs = unixMsNow();
    peer.tell(`prompt ${prompt}`);
    const happens = async (): Promise<void> => {
      if (scene !== "asks during" && scene !== "ends") return;
      await delay((at * 89) % DURING_MS);
      standIn.tell(scene === "ends" ? "exit" : "ask");
    };
    const [said] = await Promise.all([peer.until("told", READY_WITHIN_MS), happens()]);
    const isRefused = said.at(-1)![1] === "refused";
    if (isRefused) {
      const why = said.at(-1)!.slice(2).join(" ");
      refusals.set(why, (refusals.get(why) ?? 0) + 1);
    }
    const arrived = (): readonly StandInEntry[] =>
      standIn.log.slice(from).filter(({ event, text: got }) => event === "submit" && got === prompt);
    if (!isRefused) await standIn.within(ARRIVES_WITHIN_MS, () => arrived().length > 0 || standIn.has("answer", from));
    if (existsSync(canary)) found.executed += 1;
    else if (standIn.has("answer", from)) found.question += 1;
    else if (arrived().length === 1) {
      found.once += 1;
      took.push(arrived()[0]!.atUnixMs - startUnixMs);
    } else if (isRefused) found.refused += 1;
    else found.lost += 1;
    // Told to end, it takes a moment, in which a prompt for the next scene would be refused for good reason.
    if (scene === "ends") await standIn.within(LAUNCHED_WITHIN_MS, () => !standIn.isRunning);
    if (standIn.isRunning) {
      const resetFrom = standIn.log.length;
      standIn.tell("reset");
      await standIn.within(READY_WITHIN_MS, () => standIn.has("did", resetFrom) || !standIn.isRunning);
    }
  }
  const cpuSec = peer.cpuSec() - before;
  const mistakes = found.lost + found.question + found.executed;
  return {
    samples: took,
    cpuSec,
    mistakes,
    of: count,
    more: {
      "arrived once": found.once,
      "refused, caller told": found.refused,
      ...(refusals.size === 0
        ? {}
        : { "refused because": [...refusals].map(([why, times]) => `${why} ${times}`).join(", ") }),
      lost: found.lost,
      "typed into the question": found.question,
      "run by the shell": found.executed,
    },
    inShort: `${found.once} arrived, ${found.refused} refused, ${mistakes} wrong`,
  };
}

const WORK: Readonly<Record<Job, (start: Start, counts: Counts, directory: string) => Promise<Result>>> = {
  echo,
  text,
  run: commands,
  follow,
  lines,
  prompts,
};
/** A job that takes a minute is not done twice. */
const ONCE: ReadonlySet<Job> = new Set(["follow", "prompts"]);

/** Why a peer has no figures, or its figures. */
type Outcome = Result | string;

async function attempt(peer: Peer, job: Job, counts: Counts): Promise<Outcome> {
  if (typeof peer.argv === "string") return `${peer.argv}: not measured`;
  if (peer.only?.includes(job) === false) return `not possible: ${peer.why}`;
  const { argv } = peer;
  const way = peer.only === undefined ? undefined : "pipe";
  await using room = privateSocket();
  const { directory } = room;
  const start: Start = (name, count, command) => new PeerProcess({ argv, directory, job: name, count, command, way });
  try {
    return await WORK[job](start, counts, directory);
  } catch (error) {
    return `failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Samples of all rounds together; sums of what was counted. */
function pooled(outcomes: readonly Outcome[]): Outcome {
  const results: Result[] = [];
  for (const outcome of outcomes) {
    if (typeof outcome === "string") return outcome;
    results.push(outcome);
  }
  const sum = (of: (result: Result) => number): number => results.reduce((total, each) => total + of(each), 0);
  const samples = results.flatMap((each) => each.samples ?? []);
  const [mistakes, of] = [sum((each) => each.mistakes), sum((each) => each.of)];
  const median = ms(quantile(samples, 0.5));
  const last = results.at(-1)!;
  return {
    ...last,
    samples,
    cpuSec: sum((each) => each.cpuSec),
    mistakes,
    of,
    inShort: results.length === 1 && last.inShort !== "" ? last.inShort : shortOf(median, mistakes, of, last.inShort),
  };
}

/** Lines are lost, everything else is wrong. */
const shortOf = (median: string, mistakes: number, of: number, own: string): string =>
  `${median}, ${own.includes("lost") ? missing(mistakes, of) : `${mistakes} of ${of} wrong`}`;

export const run: RunBench = async (_emit, { isShort, followSec, jobs, row, progress }: BenchRun) => {
  const base = isShort ? SHORT : FULL;
  const counts = { ...base, followSec: followSec ?? base.followSec };
  const all = peers();
  const load = loadavg().map((each) => each.toFixed(1));
  progress(`  load ${load.join(" ")}; text and Enter of a prompt are ${PAUSE_MS} ms apart where a script pauses`);
  const unknown = (jobs ?? []).filter((job) => !(JOBS as readonly string[]).includes(job));
  if (unknown.length > 0) throw new Error(`no job ${unknown.join(", ")}; there are ${JOBS.join(", ")}`);
  for (const job of JOBS) {
    if (jobs?.includes(job) === false) continue;
    const outcomes = new Map<Peer, Outcome[]>(all.map((peer) => [peer, []]));
    for (let round = 0; round < (ONCE.has(job) ? 1 : counts.rounds); round += 1) {
      for (const [peer, own] of outcomes) {
        const outcome = await attempt(peer, job, counts);
        own.push(outcome);
        progress(`  ${job}, ${peer.name}: ${typeof outcome === "string" ? outcome : told(outcome)}`);
      }
    }
    const results = new Map([...outcomes].map(([peer, own]) => [peer, pooled(own)]));
    rowsOf(job, results, counts, row);
  }
  for (const name of OTHERS) {
    const why = onPath(name) ? "found, but there is no driver for it: not measured" : "not found: not measured";
    row({ bench: "peers", table: "Looked for on the PATH", cells: { program: name, result: why } });
  }
};

const told = ({ samples = [], mistakes, of, inShort }: Result): string =>
  inShort === "" ? shortOf(ms(quantile(samples, 0.5)), mistakes, of, "") : inShort;

function rowsOf(job: Job, results: ReadonlyMap<Peer, Outcome>, counts: Counts, row: BenchRun["row"]): void {
  const titles: Readonly<Record<Job, string>> = {
    ...TITLES,
    follow: `${counts.panes} panes followed for ${counts.followSec} s`,
    lines: `${counts.lines} lines printed at once`,
    prompts: `${counts.prompts} prompts into a program that asks a question in between`,
  };
  const medianOf = (outcome: Outcome | undefined): number =>
    typeof outcome === "object" ? quantile(outcome.samples ?? [], 0.5) : Number.NaN;
  const [ours] = results.values();
  for (const [{ name, way }, outcome] of results) {
    const base = { peer: name, way };
    if (typeof outcome === "string") {
      row({
        bench: "peers",
        table: titles[job],
        cells: { ...base, result: outcome },
        figures: { job, peer: name, why: outcome },
      });
      continue;
    }
    const { samples = [], cpuSec, mistakes, of, more = {} } = outcome;
    const hasSamples = samples.length > 0;
    const ratio = Number((medianOf(outcome) / medianOf(ours)).toPrecision(3));
    row({
      bench: "peers",
      table: titles[job],
      cells: {
        ...base,
        result: `${mistakes} of ${of} ${job === "follow" || job === "lines" ? "lost" : "wrong"}`,
        ...(hasSamples ? { median: ms(quantile(samples, 0.5)), p90: ms(quantile(samples, 0.9)) } : {}),
        ...(Number.isFinite(ratio) ? { "ratio to tmuxwire": ratio } : {}),
        ...(Number.isNaN(cpuSec) ? {} : { "CPU s": Number(cpuSec.toPrecision(3)) }),
        ...more,
      },
      figures: {
        job,
        peer: name,
        mistakes,
        of,
        ...(hasSamples ? { medianMs: quantile(samples, 0.5), p90Ms: quantile(samples, 0.9) } : {}),
        ...(Number.isNaN(cpuSec) ? {} : { cpuSec }),
        ...more,
      },
    });
  }
  row({
    bench: "peers",
    table: "In short",
    cells: {
      job: titles[job],
      ...Object.fromEntries(
        [...results].map(([{ name }, outcome]) => [name, typeof outcome === "string" ? outcome : told(outcome)]),
      ),
    },
  });
}
