/**
 * A program on pipes, in its own process group. The group ends with this process, however this process ends: the group
 * contains a guard, a shell that holds one end of a pipe whose other end is here. When the pipe closes, the guard ends the
 * group as we would, and while it lives no other group can get the group's number.
 */
import { type ChildProcess, spawn as spawnChild } from "node:child_process";
import type { Duplex } from "node:stream";
import { countSpawn } from "./spawnCount.ts";

export interface ProgramEnd {
  readonly exitCode?: number | undefined;
  readonly signal?: NodeJS.Signals | undefined;
}

export interface GroupedProgramOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** If false, its input is at end of file. */
  readonly hasInput: boolean;
  readonly onOutput: (chunk: Uint8Array) => void;
  readonly onErrors: (chunk: Uint8Array) => void;
  /** Called when the process is gone; output from others of its group may still follow. */
  readonly onExit: (end: ProgramEnd) => void;
  /** Called when no more output will come. */
  readonly onClosed: () => void;
}

export interface GroupedProgram {
  /** The program's pid; undefined if it could not be started. */
  readonly pid: number | undefined;
  /** Bytes that the program has not taken yet. */
  readonly unwrittenBytes: number;
  /** `taken` is called once the system has accepted all bytes, or with the reason why it never will. */
  write(bytes: Uint8Array, taken: (error: Error | null | undefined) => void): void;
  /** Signals every remaining process of the group. */
  signal(name: "SIGINT" | "SIGTERM" | "SIGKILL"): void;
  /** Discards output that has not been read. */
  stopReading(): void;
  /** Lets the guard end what is left of the group. Safe to call twice. */
  letGo(): void;
}

/** Time between SIGTERM and SIGKILL. */
export const GROUP_ENDS_WITHIN_MS = 5_000;

/**
 * The guard is not a child of the program, which may count its children. It keeps only its own pipe open, so that readers of
 * the program's output see its end. The shell that starts it already ignores the signals, and starts the program afterwards,
 * so that a program that exits immediately cannot take the guard down with its group.
 */
const GUARDED = `(trap '' INT TERM HUP
(exec </dev/null >/dev/null 2>&1
read -r _ <&3
kill -TERM 0
sleep ${GROUP_ENDS_WITHIN_MS / 1_000}
kill -KILL 0) &)
exec "$@" 3<&-`;

type Started = { readonly pid?: number | undefined } & Partial<
  Pick<ChildProcess, "stdin" | "stdout" | "stderr" | "stdio">
>;

export function startGroupedProgram(options: GroupedProgramOptions): GroupedProgram {
  const { file, args, cwd, env, hasInput } = options;
  const child = spawnChild("/bin/sh", ["-c", GUARDED, "sh", file, ...args], {
    cwd,
    env: { ...env },
    detached: true,
    stdio: [hasInput ? "pipe" : "ignore", "pipe", "pipe", "pipe"],
  });
  countSpawn(child.pid);
  child.once("error", () => {
    if (pid === undefined) options.onClosed();
  });
  // Node makes none of the pipes when no descriptor is free (EMFILE).
  const { pid, stdin, stdout, stderr, stdio }: Started = child;
  const guard = stdio?.[3] as Duplex | null | undefined;
  let isGuarded = pid !== undefined;
  guard?.once("close", () => (isGuarded = false));
  // It never writes, but its end is noticed only while reading.
  guard?.resume();
  for (const pipe of [stdin, stdout, stderr, guard]) pipe?.on("error", () => undefined);
  stdout?.on("data", options.onOutput);
  stderr?.on("data", options.onErrors);
  // The exit and the ends of stdout and stderr, in any order. The child's own `close` would wait for the guard.
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
  return {
    pid,
    get unwrittenBytes() {
      return stdin?.writableLength ?? 0;
    },
    write: (bytes, taken) => {
      if (stdin == null || stdin.destroyed || !stdin.writable) taken(new Error("its input is closed"));
      else stdin.write(bytes, taken);
    },
    signal: (name) => {
      if (pid === undefined || !isGuarded) return;
      try {
        process.kill(-pid, name);
      } catch {
        // No process is left.
      }
    },
    stopReading: () => {
      stdout?.destroy();
      stderr?.destroy();
    },
    letGo: () => guard?.destroy(),
  };
}
