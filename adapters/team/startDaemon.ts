/**
 * Starts the daemon for the extension, when the user has allowed that: a process of its own that outlives pi, without
 * teamd's secrets, its log in a file beside `daemon.json`. Runs inside pi, never inside the daemon.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";

const READY = /^team contract at /m;
const READY_WITHIN_MS = 15_000;

type Environment = Readonly<Record<string, string | undefined>>;

/** Resolves when it listens. @param daemonFile where it will say so. @throws Error with what it said */
export async function startDaemon(env: Environment, daemonFile: string): Promise<void> {
  const logPath = join(dirname(daemonFile), "daemon.log");
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  const log = openSync(logPath, "a", 0o600);
  const executable = fileURLToPath(new URL("../bin/tmuxwire.js", import.meta.url));
  // pi may be a program of its own with another runtime inside.
  const node = basename(process.execPath).startsWith("node") ? process.execPath : "node";
  try {
    const child = spawn(node, [executable, "serve", "--only", "team"], {
      cwd: "/",
      detached: true,
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("PI_TEAMD_"))),
      stdio: ["ignore", "pipe", log],
    });
    child.unref();
    const stdout = child.stdout as Readable;
    const gone = new AbortController();
    child.once("error", () => gone.abort());
    child.once("close", () => gone.abort());
    let reported = "";
    const signal = AbortSignal.any([gone.signal, AbortSignal.timeout(READY_WITHIN_MS)]);
    try {
      while (!READY.test(reported)) reported += String((await once(stdout, "data", { signal }))[0]);
    } catch (error) {
      throw new Error(`it did not start: ${lastLine(logPath)}`, { cause: error });
    } finally {
      stdout.destroy();
    }
  } finally {
    closeSync(log);
  }
}

const lastLine = (path: string): string => readFileSync(path, "utf8").trim().split("\n").at(-1) ?? "";
