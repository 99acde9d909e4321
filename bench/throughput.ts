/**
 * How fast a flood reaches a subscriber: `cat` of a file in a raw pane, against tmux with nobody attached and against the
 * naive client. tmux sets the pace; what is ours is the CPU time that Node spends per MB, and that no byte is missing.
 */
import { spawnSync } from "node:child_process";
import { openSync, writeFileSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { check, figureOf, type RunBench } from "./figures.ts";
import { detachedPane, naivePane, ownedPane, privateSocket } from "./privateServer.ts";

const FILE_BYTES = 20_000_000;
const LINE = "the quick brown fox jumps over a lazy dog while it compiles main.c and links foo\r\n";
const ROUNDS = 3;
const MB = 1_000_000;

interface Flood {
  readonly mbPerSec: number;
  /** Node's CPU time, user and system, in ms per MB. */
  readonly cpuMsPerMb: number;
}

/** Lets a pane's `cat` go and tells when it has written everything, by two FIFOs. */
class FloodGate implements Disposable {
  readonly command: readonly string[];
  readonly #go: number;
  readonly #done: Socket;

  constructor(directory: string, filePath: string) {
    const go = join(directory, "go");
    const done = join(directory, "done");
    check(spawnSync("mkfifo", [go, done]).status === 0, "mkfifo failed");
    // Open for both directions, so that neither end waits for the other.
    this.#go = openSync(go, "r+");
    this.#done = new Socket({ fd: openSync(done, "r+"), readable: true, writable: false });
    this.command = [
      "sh",
      "-c",
      `stty raw -echo; echo ready > '${done}'; while read -r word < '${go}'; do cat '${filePath}'; echo done > '${done}'; done`,
    ];
  }

  /** Resolves when the pane says the next word. */
  said(): Promise<void> {
    return new Promise((resolve) => this.#done.once("data", () => resolve()));
  }

  open(): void {
    writeSync(this.#go, "go\n");
  }

  [Symbol.dispose](): void {
    this.#done.destroy();
  }
}

export const run: RunBench = async (emit) => {
  await using files = privateSocket();
  const filePath = join(files.directory, "flood.txt");
  writeFileSync(filePath, LINE.repeat(Math.ceil(FILE_BYTES / LINE.length)).slice(0, FILE_BYTES));
  const ours: Flood[] = [];
  const naive: Flood[] = [];
  const alone: Flood[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await throughOurs(filePath));
    naive.push(await throughNaive(filePath));
    alone.push(await tmuxAlone(filePath));
  }
  const rates = (floods: readonly Flood[]): number[] => floods.map((flood) => flood.mbPerSec);
  const costs = (floods: readonly Flood[]): number[] => floods.map((flood) => flood.cpuMsPerMb);
  const rate = { bench: "throughput", figure: "20 MB to a subscriber", unit: "MB/s" };
  emit(figureOf(rate, rates(ours), "naive -CC client", rates(naive)));
  emit(figureOf(rate, rates(ours), "tmux alone, no client", rates(alone)));
  const cost = { bench: "throughput", figure: "Node CPU time", unit: "ms/MB" };
  emit(figureOf(cost, costs(ours), "naive -CC client", costs(naive)));
};

async function throughOurs(filePath: string): Promise<Flood> {
  await using socket = privateSocket();
  using gate = new FloodGate(socket.directory, filePath);
  const ready = gate.said();
  await using flooded = await ownedPane(gate.command);
  const { source } = flooded;
  await ready;
  let readSeq = source.outputSeq;
  const endSeq = readSeq + FILE_BYTES;
  let sum = 0;
  return await timeFlood(gate, (resolve) =>
    source.subscribe({
      advanced: () => {
        const slice = source.read(readSeq);
        check(slice.kind === "bytes", "bytes are missing");
        readSeq = slice.to;
        // Touches the bytes as a subscriber would.
        sum += slice.bytes[0]! + slice.bytes.at(-1)!;
        if (readSeq >= endSeq) resolve(sum);
      },
      gap: () => check(false, "tmux dropped output"),
      exited: () => undefined,
      closed: () => undefined,
    }),
  );
}

async function throughNaive(filePath: string): Promise<Flood> {
  await using socket = privateSocket();
  using gate = new FloodGate(socket.directory, filePath);
  const ready = gate.said();
  await using flooded = await naivePane(gate.command);
  await ready;
  let received = 0;
  return await timeFlood(gate, (resolve) => {
    flooded.client.onOutput = (text) => {
      // One byte per character: the file is ASCII.
      received += text.length;
      if (received >= FILE_BYTES) resolve(received);
    };
  });
}

/** Done when `cat` is: but for what the kernel still holds, tmux has read it all. */
async function tmuxAlone(filePath: string): Promise<Flood> {
  await using socket = privateSocket();
  using gate = new FloodGate(socket.directory, filePath);
  const ready = gate.said();
  await using detached = detachedPane(gate.command);
  await ready;
  check(detached.tmux("list-clients") === "", "somebody is attached");
  return await timeFlood(gate, (resolve) => void gate.said().then(() => resolve(FILE_BYTES)));
}

async function timeFlood(gate: FloodGate, arrived: (resolve: (sum: number) => void) => unknown): Promise<Flood> {
  const cpu = process.cpuUsage();
  const startMs = performance.now();
  const sum = await new Promise<number>((resolve) => {
    arrived(resolve);
    gate.open();
  });
  const ms = performance.now() - startMs;
  const { user, system } = process.cpuUsage(cpu);
  check(sum > 0, "nothing arrived");
  return { mbPerSec: (FILE_BYTES / MB / ms) * 1_000, cpuMsPerMb: (user + system) / 1_000 / (FILE_BYTES / MB) };
}
