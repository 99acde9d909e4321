/**
 * A daemon under everything its clients do, for `SOAK_SEC` seconds (20 unless told; the long form is 1800): no error, no
 * byte lost, and memory and descriptors flat over the second half.
 */
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { cliSandbox } from "../support/daemon/cliSandbox.ts";
import { mib, probedDaemon, slope, type Usage } from "../support/daemon/probedDaemon.ts";
import { report } from "../support/daemon/loadReport.ts";
import { closeSync, writeSync } from "node:fs";
import { WebSocket } from "ws";
import {
  type ClientSocket,
  createClient,
  type PaneEvent,
  type ServerClient,
  TmuxwireError,
} from "../../adapters/client/client.ts";
import { filledPane } from "../support/tmux/filledPane.ts";
import { below, randomFrom } from "../support/daemon/nativeScreens.ts";

/**
 * Everything a daemon's clients do, all at once and for as long as it takes: panes that chatter and are followed byte for
 * byte over both transports, waits of every kind and end, captures, runs, streams and sessions that come and go. Between two
 * turns everything can be held still, so that what the daemon holds can be compared with what it held before.
 */
const CHATTER_EVERY_MS = 250;
/** Between two turns of the same work while `hurry` is set. */
const HURRY_MS = 4;
const TIMEOUT_MS = 20_000;

/** Now and then a line is long. The rings are full from the start: what grows later is not they. */
const lineOf = (name: string, n: number): string => `${name} says ${n} ${"·".repeat(n % 53 === 0 ? 2_000 : n % 40)}\n`;

interface Talker {
  readonly name: string;
  readonly fd: number;
  said: number;
  /** The line that its follower must get next, and what has come of it. */
  heard: number;
  rest: string;
}

class SoakLoad implements AsyncDisposable {
  readonly errors: string[] = [];
  /** How often each kind of work was done. */
  readonly done: Record<string, number> = {};
  /** Everything at full speed: what grows up to a bound, the regex thread's heap above all, is soon there. */
  hurry = false;
  readonly #server: ServerClient;
  readonly #openSocket: () => ClientSocket;
  readonly #talkers: Talker[] = [];
  readonly #random = randomFrom(1);
  readonly #following = new AbortController();
  readonly #followers: Promise<void>[] = [];
  readonly #workers: Promise<void>[] = [];
  readonly #atWork = new Set<Promise<void>>();
  #socket: ClientSocket | undefined;
  #held: { readonly free: Promise<void>; readonly release: () => void } | undefined;
  #isOver = false;
  #names = 0;

  private constructor(url: string, token: string) {
    const client = createClient({ url, token });
    this.#server = client.server("main");
    this.#openSocket = () => client.openSocket({ WebSocket });
  }

  static async start(url: string, token: string, panes: number): Promise<SoakLoad> {
    const load = new SoakLoad(url, token);
    await load.#server.createSession({ name: "shell", command: ["sh"] });
    await load.#server.createSession({ name: "cat", command: ["cat"] });
    await load.#server.createSession({ name: "quiet", command: ["sleep", "100000"] });
    for (let index = 0; index < panes; index += 1) {
      const name = `talker-${index}-`;
      load.#talkers.push({ name, fd: await filledPane(load.#server, name), said: 0, heard: 1, rest: "" });
    }
    await load.#follow();
    load.#work("chatter", CHATTER_EVERY_MS, () => load.#chatter());
    load.#work("literal wait", 100, () => load.#literalWait());
    load.#work("regex wait", 150, () => load.#regexWait());
    load.#work("send and wait", 150, () => load.#sendAndWait());
    load.#work("stable wait", 500, () => load.#stableWait());
    load.#work("wait that times out", 200, () => load.#vainWait());
    load.#work("wait that is given up", 200, () => load.#abandonedWait());
    load.#work("capture", 100, () => load.#capture());
    load.#work("run", 500, () => load.#run());
    load.#work("event stream", 300, () => load.#eventStream());
    load.#work("socket", 700, () => load.#comingSocket());
    load.#work("session", 700, () => load.#session());
    return load;
  }

  /** Runs `probe` while nothing is under way but the followers. */
  async still<Result>(probe: () => Promise<Result>): Promise<Result> {
    let release = (): void => undefined;
    const free = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#held = { free, release };
    await Promise.all(this.#atWork);
    await this.#caughtUp();
    try {
      return await probe();
    } finally {
      this.#held = undefined;
      release();
    }
  }

  /** Ends the work and waits until the followers have every line. */
  async finish(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    await this.#caughtUp();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
    this.#following.abort(new Error("over"));
    this.#socket?.close();
    await Promise.all(this.#followers);
    for (const { fd } of this.#talkers) closeSync(fd);
  }

  /** Half of the panes over one WebSocket, the others with an event stream each. */
  async #follow(): Promise<void> {
    this.#socket = this.#openSocket();
    const options = { signal: this.#following.signal };
    for (const [index, talker] of this.#talkers.entries()) {
      const events =
        index % 2 === 0
          ? this.#socket.follow("main", talker.name, options)
          : this.#server.pane(talker.name).follow(options);
      const first = await events.next();
      if (first.value?.kind !== "open") throw new Error(`${talker.name}: ${first.value?.kind} came first`);
      this.#followers.push(this.#hear(talker, events));
    }
  }

  async #hear(talker: Talker, events: AsyncGenerator<PaneEvent, void, void>): Promise<void> {
    const decoder = new TextDecoder();
    try {
      for await (const event of events) {
        if (event.kind === "output") this.#heard(talker, decoder.decode(event.bytes, { stream: true }));
        else this.errors.push(`${talker.name}: ${event.kind} on its stream`);
      }
      this.errors.push(`${talker.name}: its stream ended`);
    } catch (error) {
      if (!this.#following.signal.aborted) this.errors.push(`${talker.name}: ${String(error)}`);
    }
  }

  #heard(talker: Talker, text: string): void {
    const lines = (talker.rest + text).split("\r\n");
    talker.rest = lines.pop() ?? "";
    for (const line of lines) {
      if (`${line}\n` !== lineOf(talker.name, talker.heard))
        this.errors.push(`${talker.name}: not line ${talker.heard}`);
      talker.heard += 1;
    }
  }

  async #caughtUp(): Promise<void> {
    const endMs = performance.now() + TIMEOUT_MS;
    // Nothing says that the last of several streams has been read.
    while (this.#talkers.some(({ said, heard }) => heard <= said)) {
      if (performance.now() > endMs) {
        const behind = this.#talkers.filter(({ said, heard }) => heard <= said).map(({ name }) => name);
        this.errors.push(`followers did not catch up: ${behind.join(" ")}`);
        return;
      }
      await delay(10);
    }
  }

  #work(name: string, everyMs: number, turn: () => Promise<void>): void {
    const once = async (): Promise<void> => {
      try {
        await turn();
        this.done[name] = (this.done[name] ?? 0) + 1;
      } catch (error) {
        this.errors.push(`${name}: ${String(error)}`);
      }
    };
    const worker = async (): Promise<void> => {
      while (!this.#isOver) {
        await this.#held?.free;
        const turned = once();
        this.#atWork.add(turned);
        await turned;
        this.#atWork.delete(turned);
        await delay(this.hurry ? HURRY_MS : everyMs);
      }
    };
    this.#workers.push(worker());
  }

  async #chatter(): Promise<void> {
    for (const talker of this.#talkers) {
      talker.said += 1;
      writeSync(talker.fd, lineOf(talker.name, talker.said));
    }
  }

  get #anyTalker(): Talker {
    return this.#talkers[below(this.#random, this.#talkers.length)]!;
  }

  /** What a pane has said is waited for from its retained output on, so that no wait can come too late. */
  async #literalWait(): Promise<void> {
    const { name, said } = this.#anyTalker;
    const request = { pattern: { literal: `${name} says ${said} ` }, from: "tail:5", timeoutMs: TIMEOUT_MS };
    if (said > 0) await this.#server.pane(name).wait(request);
  }

  async #regexWait(): Promise<void> {
    const { name, said } = this.#anyTalker;
    const request = {
      pattern: { regex: `says ${said}\\s+.*$`, multiline: true },
      from: "tail:5",
      timeoutMs: TIMEOUT_MS,
    };
    if (said > 0) await this.#server.pane(name).wait(request);
  }

  async #sendAndWait(): Promise<void> {
    const text = `sent-${(this.#names += 1)};`;
    await this.#server.pane("cat").wait({
      pattern: { literal: text },
      timeoutMs: TIMEOUT_MS,
      send: { parts: [{ kind: "text", text }, { kind: "enter" }] },
    });
  }

  async #stableWait(): Promise<void> {
    await this.#server.pane("quiet").wait({ stableSec: 0.2, timeoutMs: TIMEOUT_MS });
  }

  async #vainWait(): Promise<void> {
    const { name } = this.#anyTalker;
    const code = await codeOf(this.#server.pane(name).wait({ pattern: { literal: "never said" }, timeoutMs: 50 }));
    if (code !== "TIMEOUT") throw new Error(`ended with ${code}`);
  }

  async #abandonedWait(): Promise<void> {
    const { name } = this.#anyTalker;
    const abort = new AbortController();
    const pattern = { regex: "never (said|heard)" };
    const waiting = codeOf(this.#server.pane(name).wait({ pattern, timeoutMs: TIMEOUT_MS }, { signal: abort.signal }));
    await delay(30);
    abort.abort(new Error("given up"));
    const code = await waiting;
    if (code !== "Error: given up") throw new Error(`ended with ${code}`);
  }

  async #capture(): Promise<void> {
    const pane = this.#server.pane(this.#anyTalker.name);
    const { lines } = await pane.capture({ lines: 200, joined: true });
    const screen = await pane.capture({ ansi: true });
    const { bytes } = await pane.snapshot();
    if (lines.length === 0 || screen.lines.length === 0 || bytes.length === 0) throw new Error("nothing captured");
  }

  async #run(): Promise<void> {
    const word = `ran-${(this.#names += 1)}`;
    const { output, exitCode } = await this.#server
      .pane("shell")
      .run(`echo ${word}; (exit 3)`, { timeoutMs: TIMEOUT_MS });
    if (output.trim() !== word || exitCode !== 3) throw new Error("another answer");
  }

  async #eventStream(): Promise<void> {
    const { name } = this.#anyTalker;
    const from = ["tail:5", "snapshot"][below(this.#random, 2)]!;
    for await (const event of this.#server.pane(name).follow({ from })) {
      if (event.kind === "output" || event.kind === "snapshot") break;
    }
  }

  async #comingSocket(): Promise<void> {
    const socket = this.#openSocket();
    try {
      const names = [this.#anyTalker.name, "cat"];
      for (const name of names) {
        for await (const event of socket.follow("main", name, { from: "snapshot" })) {
          if (event.kind === "snapshot") break;
        }
      }
      await socket.input("main", "quiet", [{ kind: "text", text: "x" }]);
    } finally {
      socket.close();
    }
  }

  async #session(): Promise<void> {
    const name = `passing-${(this.#names += 1)}`;
    await this.#server.createSession({ name, command: ["cat"] });
    const parts = [{ kind: "text" as const, text: "hello" }, { kind: "enter" as const }];
    await this.#server.pane(name).wait({ pattern: { literal: "hello" }, timeoutMs: TIMEOUT_MS, send: { parts } });
    await this.#server.killSession(name);
  }
}

/** The code of the failure, its text when it has none. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "no failure";
  } catch (error) {
    return error instanceof TmuxwireError ? error.code : String(error);
  }
}

const SECONDS = Number(process.env["SOAK_SEC"] ?? 20);
const PANES = 20;
const SAMPLES = 60;
/** The beginning, in which everything is done at full speed, so that nothing is left that grows up to a bound. */
const HURRIED_SHARE = 0.15;
/** From here on a run is long enough for its slope to mean something; before, code is still being compiled. */
const LONG_SEC = 600;
/** Growth over the second half that is still flat: some hundredths of what there is. */
const FLAT = SECONDS >= LONG_SEC ? { rssMb: 5, heapMb: 0.5 } : { rssMb: 20, heapMb: 5 };
const MORE_DESCRIPTORS = 4;

interface Sample extends Usage {
  readonly atSec: number;
}

test(
  `${SECONDS} s of everything at once: 0 errors, memory and descriptors flat`,
  async () => {
    await using sandbox = cliSandbox();
    const daemon = await probedDaemon(sandbox);
    const atRest = await daemon.usage();
    await using load = await SoakLoad.start(daemon.url, daemon.token, PANES);
    const startMs = performance.now();
    const samples: Sample[] = [];
    const everySec = Math.max(1, SECONDS / SAMPLES);
    for (let atSec = 0; atSec <= SECONDS; atSec += everySec) {
      load.hurry = atSec < SECONDS * HURRIED_SHARE;
      await delay(Math.max(0, startMs + atSec * 1_000 - performance.now()));
      samples.push({ ...(await load.still(() => daemon.usage())), atSec });
      if (load.errors.length > 0) break;
    }
    await load.finish();
    const second = samples.slice(Math.floor(samples.length / 2));
    const halfSec = second.at(-1)!.atSec - second[0]!.atSec;
    const growth = (of: (sample: Sample) => number): number =>
      slope(second.map((sample) => [sample.atSec, of(sample)])) * halfSec;
    const most = (of: readonly Sample[]): number => Math.max(...of.map(({ descriptors }) => descriptors));
    const figures = {
      seconds: SECONDS,
      panes: PANES,
      done: load.done,
      errors: load.errors.length,
      atRestMb: mib(atRest.rss),
      rssMb: samples.map(({ rss }) => mib(rss)),
      heapMb: samples.map(({ heapUsed }) => mib(heapUsed)),
      secondHalfRssGrowthMb: mib(growth(({ rss }) => rss)),
      secondHalfHeapGrowthMb: mib(growth(({ heapUsed }) => heapUsed)),
      descriptors: samples.map(({ descriptors }) => descriptors),
      cpuShare: Math.round(samples.at(-1)!.cpuMs / SECONDS) / 1_000,
    };
    report("soak", figures);
    expect(load.errors.slice(0, 20)).toEqual([]);
    expect(Object.values(load.done).every((times) => times > 0)).toBe(true);
    expect(Object.keys(load.done)).toHaveLength(12);
    expect(daemon.running.stderr()).toBe("");
    expect(figures.secondHalfRssGrowthMb).toBeLessThan(FLAT.rssMb);
    expect(figures.secondHalfHeapGrowthMb).toBeLessThan(FLAT.heapMb);
    expect(most(second)).toBeLessThanOrEqual(most(samples.slice(0, -second.length)) + MORE_DESCRIPTORS);
  },
  SECONDS * 1_000 + 180_000,
);
