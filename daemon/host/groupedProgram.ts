/**
 * A program on pipes, in its own process group. The group ends with this process, however that ends: it contains a
 * guard, a shell that holds one end of a pipe whose other end is here. When the pipe closes, the guard ends the group
 * as we would, and while it lives no other group can get the group's number.
 */
import { spawn as spawnChild } from "node:child_process";
import type { Duplex } from "node:stream";
import { countSpawn } from "./spawnCount.ts";

export interface ProgramEnd {
  readonly exitCode?: number | undefined;
  readonly signal?: NodeJS.Signals | undefined;
}

interface GroupedProgramOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Otherwise it reads end of file. */
  readonly hasInput: boolean;
  readonly onOutput: (chunk: Uint8Array) => void;
  readonly onErrors: (chunk: Uint8Array) => void;
  /** The process is gone; output from others of its group may still follow. */
  readonly onExit: (end: ProgramEnd) => void;
  /** Nothing more comes. */
  readonly onClosed: () => void;
}

export interface GroupedProgram {
  /** Of the program; undefined when nothing could be started. */
  readonly pid: number | undefined;
  /** Bytes that the program has not taken yet. */
  readonly unwrittenBytes: number;
  /** `taken` is called once the system has all of it, or with the reason why it never will. */
  write(bytes: Uint8Array, taken: (error: Error | null | undefined) => void): void;
  /** To every remaining process of the group. */
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  /** Discards what has not been read. */
  stopReading(): void;
  /** The guard ends what is left of the group. Safe to call twice. */
  letGo(): void;
}

/** How long a group has between SIGTERM and SIGKILL. */
export const GROUP_ENDS_WITHIN_MS = 5_000;

/**
 * The guard is not a child of the program, which may count its children. It keeps only its own pipe open, so that
 * readers of the program's output see it end. It is made by a shell that already ignores the signals: the program starts
 * after that, and one that ends at once cannot have the guard ended with its group.
 */
const GUARDED = `(trap '' INT TERM HUP
(exec </dev/null >/dev/null 2>&1
read -r _ <&3
kill -TERM 0
sleep ${GROUP_ENDS_WITHIN_MS / 1_000}
kill -KILL 0) &)
exec "$@" 3<&-`;

export function startGroupedProgram(options: GroupedProgramOptions): GroupedProgram {
  const { file, args, cwd, env, hasInput } = options;
  const child = spawnChild("/bin/sh", ["-c", GUARDED, "sh", file, ...args], {
    cwd,
    env: { ...env },
    detached: true,
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe"],
  });
  countSpawn(child.pid);
  const { pid, stdin, stdout, stderr } = child;
  const guard = child.stdio[3] as Duplex | null | undefined;
  let isGuarded = pid !== undefined;
  guard?.once("close", () => (isGuarded = false));
  // It never writes; its end is noticed only while reading.
  guard?.resume();
  for (const pipe of [stdin, stdout, stderr, guard]) pipe?.on("error", () => undefined);
  stdout?.on("data", options.onOutput);
  stderr?.on("data", options.onErrors);
  // Its exit and the ends of what it prints, in any order. Its own `close` would wait for the guard.
  let left = 3;
  const ended = (): void => {
    left -= 1;
    if (left === 0) options.onClosed();
  };
  stdout?.once("close", ended);
  stderr?.once("close", ended);
  child.once("exit", (exitCode, signal) => {
    options.onExit({ exitCode: exitCode ?? undefined, signal: signal ?? undefined });
    ended();
  });
  child.once("error", () => {
    if (pid === undefined) options.onClosed();
  });
  return {
    pid,
    get unwrittenBytes() {
      return stdin?.writableLength ?? 0;
    },
    write: (bytes, taken) => {
      if (stdin === null || stdin.destroyed || !stdin.writable) taken(new Error("its input is closed"));
      else stdin.write(bytes, taken);
    },
    signal: (name) => {
      if (pid === undefined || !isGuarded) return;
      try {
        process.kill(-pid, name);
      } catch {
        // Nobody is left.
      }
    },
    stopReading: () => {
      stdout?.destroy();
      stderr?.destroy();
    },
    letGo: () => guard?.destroy(),
  };
}
