/**
 * Starts the daemon for a command that wants one and finds none: the native API alone, a process of its own that outlives
 * the command, its log in a file. Runs in the command's process, never in the daemon.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { AppError } from "../../protocol/errors.ts";

const READY = /^native API listening on unix:/m;
const READY_WITHIN_MS = 15_000;

interface Asker {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

interface Autostart {
  readonly pid: number | undefined;
  readonly logPath: string;
}

/** Resolves when it listens. @param flags of `serve` @throws AppError DAEMON_UNREACHABLE with what it said */
export async function startDaemonFor(asker: Asker, socketPath: string, flags: readonly string[]): Promise<Autostart> {
  const logPath = join(dirname(socketPath), "daemon.log");
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  const log = openSync(logPath, "a", 0o600);
  try {
    const executable = fileURLToPath(new URL("../bin/tmuxwire.js", import.meta.url));
    const child = spawn(process.execPath, [executable, "serve", "--only", "native", ...flags], {
      cwd: "/",
      detached: true,
      env: { ...asker.env },
      stdio: ["ignore", "pipe", log],
    });
    child.unref();
    const stdout = child.stdout as Readable;
    const gone = new AbortController();
    child.once("error", () => gone.abort());
    child.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, asker.signal, AbortSignal.timeout(READY_WITHIN_MS)]);
    let told = "";
    try {
      while (!READY.test(told)) told += String((await once(stdout, "data", { signal }))[0]);
    } catch (error) {
      const said = readFileSync(logPath, "utf8").trim().split("\n").at(-1) ?? "";
      throw new AppError("DAEMON_UNREACHABLE", `no daemon runs, and one that was started ended: ${said}`, {
        cause: error,
      });
    } finally {
      stdout.destroy();
    }
    return { pid: child.pid, logPath };
  } finally {
    closeSync(log);
  }
}
