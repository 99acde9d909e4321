/**
 * Text written in a pane → the waiter knows. The program that writes is the same for all, prints a numbered line with its
 * own monotonic time every few milliseconds, every twentieth or every fifth of a second, when everything on the way has
 * gone cold as it has when a command is waited for in earnest, and everyone is told by their own means: a bare reader of a
 * pty without tmux, a wait on the control connection, and what clients do today: a capture in a process of its own every
 * 50, 120 or 200 ms (docs/contracts: dashboard and freshell 200, add-in 120, python tools 50).
 * `node dist/bench/waitLatency.js`, or `npm run bench -- waitLatency`.
 */
import { pathToFileURL } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { spawn } from "@homebridge/node-pty-prebuilt-multiarch";
import type { OutputSource } from "../daemon/tmux/outputSource.ts";
import { systemClock } from "../daemon/time/clock.ts";
import { WaitManager } from "../daemon/waits/waitManager.ts";
import type { WaitPattern } from "../daemon/waits/waitPattern.ts";
import { tmuxProcess } from "./baseline.ts";
import { check, compare, type Contender, type Emit, type Turns } from "./figures.ts";
import { benchEnvironment, COLS, detachedPane, ownedPane, ROWS, SESSION } from "./privateServer.ts";

/** Lines that come as fast as they can, before the ones that are measured: a daemon has served a few thousand waits. */
const WARM_UP_LINES = 20_000;
/** `hrtime` is one clock for all processes of a machine. */
const writer = (fromMs: number, toMs: number): string[] => [
  process.execPath,
  "-e",
  `let n = 0; const next = () => {
  process.stdout.write("at " + process.hrtime.bigint() + " line-" + n++ + "-end\\n");
  if (n < ${WARM_UP_LINES}) setImmediate(next);
  else setTimeout(next, ${fromMs} + Math.random() * ${toMs - fromMs});
}; next();`,
];
const OFTEN = writer(5, 10);
const SOMETIMES = writer(30, 70);
const RARELY = writer(150, 250);
const LINE = /at (\d+) line-(\d+)-end/g;
const TURNS = { rounds: 10, perRound: 30, warmUp: 20 };
const SLOW_TURNS = { rounds: 10, perRound: 15, warmUp: 5 };
/** Each sample of a poller takes as long as its interval. */
const POLL_TURNS = { rounds: 3, perRound: 7, warmUp: 1 };
const POLL_INTERVALS_MS = [50, 120, 200] as const;

interface Line {
  readonly writtenNs: bigint;
  readonly number: number;
}

const linesOf = (text: string): Line[] =>
  [...text.matchAll(LINE)].map((match) => ({ writtenNs: BigInt(match[1] ?? 0), number: Number(match[2]) }));

const sinceMs = ({ writtenNs }: Line): number => Number(process.hrtime.bigint() - writtenNs) / 1e6;

/** The program on a pty of our own, and nothing in between. */
function barePty(command: readonly string[]): Contender & Disposable {
  const [file, ...args] = command;
  check(file !== undefined, "no program");
  const pty = spawn(file, args, { cols: COLS, rows: ROWS, encoding: null, env: benchEnvironment });
  let told: ((ms: number) => void) | undefined;
  pty.onData((data) => {
    const line = linesOf(Buffer.from(data as unknown as Uint8Array).toString("latin1")).at(-1);
    if (line === undefined || told === undefined) return;
    told(sinceMs(line));
    told = undefined;
  });
  return {
    name: "bare pty reader",
    sample: () => new Promise((resolve) => (told = resolve)),
    [Symbol.dispose]: () => pty.kill("SIGKILL"),
  };
}

/** The last line in what the pane has kept. */
function lastLine(source: OutputSource): Line {
  const slice = source.read(Math.max(source.tailSeq, source.outputSeq - 256));
  const line = slice.kind === "bytes" ? linesOf(Buffer.from(slice.bytes).toString("latin1")).at(-1) : undefined;
  check(line !== undefined, "the pane prints nothing");
  return line;
}

/** How the line is asked for. A short one is judged without RE2, see `shortRegex`. */
const PATTERNS = {
  literal: (text: string) => ({ kind: "literal", text }),
  "text as a regex": (text: string) => ({ kind: "regex", text: `${text}$` }),
  regex: (text: string) => ({ kind: "regex", text: text.replace("-end", "-e[n]d") }),
} as const satisfies Record<string, (text: string) => WaitPattern>;
type Kind = keyof typeof PATTERNS;

/** A wait for a line that is not written yet. */
function waiting(waits: WaitManager, source: OutputSource, kind: Kind): Contender {
  return {
    name: `${kind} wait`,
    sample: async () => {
      const { number } = lastLine(source);
      const text = `line-${number + 2}-end`;
      const { matched } = await waits.wait(source, { pattern: PATTERNS[kind](text) });
      check(matched[0]?.text === text, "the wait saw something else");
      return sinceMs(lastLine(source));
    },
  };
}

/** Waits while the lines come fast, until they come slowly; the bare reader has had as many by then. */
async function warmUp(waits: WaitManager, source: OutputSource): Promise<void> {
  for (let number = 0; number < WARM_UP_LINES; { number } = lastLine(source)) {
    const kind: Kind = number % 4 === 0 ? "regex" : number % 4 === 1 ? "text as a regex" : "literal";
    await waits.wait(source, { pattern: PATTERNS[kind](`line-${number + 2}-end`) });
  }
}

/** The bytes themselves, without a wait: what tmux and the connection take. */
const subscriber = (source: OutputSource): Contender => ({
  name: "subscriber of the pane",
  sample: () =>
    new Promise((resolve) => {
      const unsubscribe = source.subscribe({
        advanced: () => {
          unsubscribe();
          resolve(sinceMs(lastLine(source)));
        },
        gap: () => undefined,
        exited: () => undefined,
        closed: () => undefined,
      });
    }),
});

/** A capture in a process of its own at each interval; what it waits for is written at any time between two. */
function poller(socketPath: string, intervalMs: number): Contender {
  const screen = async (): Promise<Line[]> =>
    linesOf(await tmuxProcess(socketPath, ["capture-pane", "-p", "-t", SESSION]));
  return {
    name: `polling every ${intervalMs} ms`,
    sample: async () => {
      // Somewhere within the next interval, and still on the screen when that is over.
      const last = (await screen()).at(-1);
      check(last !== undefined, "the pane prints nothing");
      const wanted = last.number + 2 + Math.floor((Math.random() * intervalMs) / 10);
      for (;;) {
        await delay(intervalMs);
        const line = (await screen()).find(({ number }) => number >= wanted);
        if (line !== undefined) return sinceMs(line);
      }
    },
  };
}

/** A wait against a bare reader and against a subscriber, to programs that print alike. */
async function againstReaders(
  command: readonly string[],
  how: string,
  kinds: readonly Kind[],
  turns: Turns,
  emit: Emit,
): Promise<void> {
  const waits = new WaitManager({ clock: systemClock });
  await using owned = await ownedPane(command);
  const { source } = owned;
  using bare = barePty(command);
  await warmUp(waits, source);
  for (const kind of kinds) {
    const comparison = { bench: "waitLatency", figure: `text written → waiter told, ${kind}, ${how}`, unit: "ms" };
    await compare(comparison, [waiting(waits, source, kind), bare, subscriber(source)], turns, emit);
  }
  waits.close();
}

async function againstPollers(emit: Emit): Promise<void> {
  const waits = new WaitManager({ clock: systemClock });
  await using owned = await ownedPane(OFTEN);
  await using detached = detachedPane(OFTEN);
  await warmUp(waits, owned.source);
  const comparison = { bench: "waitLatency", figure: "text written → waiter told, literal", unit: "ms" };
  const pollers = POLL_INTERVALS_MS.map((ms) => poller(detached.socketPath, ms));
  await compare(comparison, [waiting(waits, owned.source, "literal"), ...pollers], POLL_TURNS, emit);
  waits.close();
}

export async function run(emit: Emit): Promise<void> {
  await againstReaders(OFTEN, "a line every 5 to 10 ms", ["literal", "text as a regex", "regex"], TURNS, emit);
  await againstReaders(
    SOMETIMES,
    "a line every 30 to 70 ms",
    ["literal", "text as a regex", "regex"],
    SLOW_TURNS,
    emit,
  );
  await againstReaders(RARELY, "a line every 150 to 250 ms", ["literal"], SLOW_TURNS, emit);
  await againstPollers(emit);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await run((figure) => process.stdout.write(`${JSON.stringify(figure)}\n`));
}
