/**
 * Starts the daemon for a command or a program that finds none running: a separate process that outlives the caller and logs
 * to a file. Runs in the caller's process, never in the daemon.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const READY_WITHIN_MS = 15_000;

/**
 * Node's own flags for a daemon that is started by us. A new space of V8's default size, 16 MB and twice, fills with garbage
 * that a small one frees for the same CPU: 35 MB less at a steady pace (test/load/soakPace).
 */
export const DAEMON_NODE_FLAGS: readonly string[] = ["--max-semi-space-size=2"];

interface AutostartRequest {
  /** Arguments after `serve`. */
  readonly flags: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logPath: string;
  /** Matches the daemon's output once it listens. */
  readonly ready: RegExp;
  /** Default: this process's own. */
  readonly node?: string;
  readonly signal?: AbortSignal;
}

/** Resolves with the daemon's pid once it listens. @throws Error with its last output */
export async function autostart(request: AutostartRequest): Promise<number | undefined> {
  const { flags, env, logPath, ready, node = process.execPath, signal: left = [] } = request;
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  const log = openSync(logPath, "a", 0o600);
  try {
    const executable = fileURLToPath(new URL("../bin/tmuxwire.js", import.meta.url));
    const child = spawn(node, [...DAEMON_NODE_FLAGS, executable, "serve", ...flags], {
      cwd: "/",
      detached: true,
      env: { ...env },
      stdio: ["ignore", "pipe", log],
    });
    const stdout = child.stdout as Readable;
    const gone = new AbortController();
    child.once("error", () => gone.abort());
    child.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(READY_WITHIN_MS), left].flat());
    let printed = "";
    try {
      while (!ready.test(printed)) printed += String((await once(stdout, "data", { signal }))[0]);
    } catch (error) {
      throw new Error(lastLine(logPath), { cause: error });
    } finally {
      stdout.destroy();
      // Not earlier: nothing else may keep the caller's process until the daemon's end is known.
      child.unref();
    }
    return child.pid;
  } finally {
    closeSync(log);
  }
}

const lastLine = (path: string): string => readFileSync(path, "utf8").trim().split("\n").at(-1) ?? "";
