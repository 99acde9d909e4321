/**
 * A driver of the peers bench as the bench sees it: started in a directory of its own, spoken to by lines (peerDriver.ts
 * says which), and its CPU time with that of everything it has started, but for what runs in the panes.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

interface PeerStart {
  readonly argv: readonly [string, ...string[]];
  readonly directory: string;
  readonly job: string;
  readonly count: number;
  /** A line for `sh -c`. */
  readonly command: string;
  readonly way?: string | undefined;
}

/** What a driver said, in order. */
type Said = readonly string[];

export class PeerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #said: string[][] = [];
  readonly #closed: Promise<void>;
  #isClosed = false;
  readonly #kill = (): void => void this.#child.kill("SIGTERM");
  #stderr = "";
  #wake: () => void = () => undefined;
  #tmuxSocket: string | undefined;

  constructor({ argv: [program, ...args], directory, job, count, command, way }: PeerStart) {
    this.#child = spawn(program, args, {
      cwd: directory,
      env: {
        PATH: process.env["PATH"] ?? "",
        HOME: directory,
        LANG: "C.UTF-8",
        TERM: "xterm-256color",
        SHELL: "/bin/sh",
        PEER_JOB: job,
        PEER_DIR: directory,
        PEER_COUNT: String(count),
        PEER_COMMAND: command,
        ...(way === undefined ? {} : { PEER_WAY: way }),
      },
      stdio: ["pipe", "pipe", "pipe"],
    });
    process.once("exit", this.#kill);
    this.#child.stdin!.on("error", () => undefined);
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000);
    });
    createInterface({ input: this.#child.stdout! }).on("line", (line) => {
      const words = line.split(" ");
      if (words[0] === "tmux") this.#tmuxSocket = words[1];
      else this.#said.push(words);
      this.#wake();
    });
    this.#closed = new Promise((resolve) => {
      const closed = (): void => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      };
      this.#child.once("error", (error) => {
        this.#stderr += error.message;
        closed();
      });
      this.#child.once("close", closed);
    });
  }

  tell(line: string): void {
    this.#child.stdin!.write(`${line}\n`);
  }

  /** Everything said up to and with the next line that begins with this word. @throws Error when that does not come */
  async until(word: string, withinMs: number): Promise<readonly Said[]> {
    const giveUp = AbortSignal.timeout(withinMs);
    giveUp.addEventListener("abort", () => this.#wake());
    for (;;) {
      const at = this.#said.findIndex((words) => words[0] === word);
      if (at >= 0) return this.#said.splice(0, at + 1);
      if (this.#isClosed) throw new Error(`ended: ${lastLine(this.#stderr)}`);
      if (giveUp.aborted) throw new Error(`not done within ${Math.round(withinMs / 1_000)} s`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** CPU seconds until now of the driver, its daemon and the tmux server; NaN where there is no /proc. */
  cpuSec(): number {
    const roots = [this.#child.pid ?? -1];
    if (this.#tmuxSocket !== undefined) {
      const asked = ["-S", this.#tmuxSocket, "display-message", "-p", "#{pid}"];
      roots.push(Number(spawnSync("tmux", asked, { encoding: "utf8" }).stdout));
    }
    return treeCpuSec(roots);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin!.end();
    const late = setTimeout(this.#kill, ENDS_WITHIN_MS);
    await this.#closed;
    clearTimeout(late);
    process.off("exit", this.#kill);
    if (this.#tmuxSocket !== undefined) spawnSync("tmux", ["-S", this.#tmuxSocket, "kill-server"]);
  }
}

const ENDS_WITHIN_MS = 5_000;
/** Ticks a second of the times in /proc (proc(5), USER_HZ). */
const TICKS_PER_SEC = 100;

/** The line that says what went wrong, of what a program leaves on stderr when it fails. */
function lastLine(text: string): string {
  const lines = text.trim().split("\n");
  return (lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "").slice(0, 200);
}

/** Of these processes and what they have started; what has ended and was waited for is in its parent's figure. */
function treeCpuSec(roots: readonly number[]): number {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  let names: readonly string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return Number.NaN;
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      // proc(5): after the name in parentheses come state, ppid; utime, stime, cutime and cstime are fields 14 to 17.
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const parent = Number(fields[1]);
      ticks.set(
        Number(name),
        [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0),
      );
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // It has ended.
    }
  }
  const seen = new Set<number>();
  let sum = 0;
  const add = (pid: number): void => {
    if (seen.has(pid) || isPane(pid)) return;
    seen.add(pid);
    sum += ticks.get(pid) ?? 0;
    for (const child of children.get(pid) ?? []) add(child);
  };
  for (const root of roots) add(root);
  return sum / TICKS_PER_SEC;
}

function isPane(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes("PEER_PANE=1");
  } catch {
    return false;
  }
}
