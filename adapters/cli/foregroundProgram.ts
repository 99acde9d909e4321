/**
 * Runs another program in this terminal in our place: it gets the terminal and its signals until it exits, and its exit
 * status becomes ours. For commands only, and for the daemon's successor; the daemon runs no programs.
 */
import { execFile, spawn, type StdioOptions } from "node:child_process";
import { AppError } from "../../protocol/errors.ts";
import type { Io } from "./cliIo.ts";

interface ForegroundProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Io["env"];
}

const SIGNAL_BASE = 128;
const SIGINT = 2;
const SIGTERM = 15;

/**
 * Resolves with its exit code.
 * @param onMessage of a daemon of ours: what it sends us (`process.send`). It gets a Ctrl-C from us as well, because whoever
 * signals this process alone means the daemon, which takes two in a row for one.
 * @throws AppError TMUX_UNAVAILABLE or CONFIGURATION_INVALID when it cannot be started
 */
export function inForeground(
  io: Io,
  { program, args, env }: ForegroundProgram,
  onMessage?: (message: unknown) => void,
): Promise<number> {
  // The program gets the terminal's Ctrl-C itself.
  const release = io.takeInterrupts?.(() => onMessage !== undefined && child.kill("SIGINT"));
  const stdio: StdioOptions = onMessage === undefined ? "inherit" : ["inherit", "inherit", "inherit", "ipc"];
  const child = spawn(program, args, { stdio, env: { ...env } });
  if (onMessage !== undefined) child.on("message", onMessage);
  const terminate = (): void => void child.kill("SIGTERM");
  io.signal.addEventListener("abort", terminate, { once: true });
  return new Promise<number>((resolve, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      const why = error.code === "ENOENT" ? "is not installed or not on PATH" : `cannot be started (${error.code})`;
      const code = program === "tmux" ? "TMUX_UNAVAILABLE" : "CONFIGURATION_INVALID";
      reject(new AppError(code, `${program} ${why}`, { cause: error }));
    });
    child.once("close", (code, signal) =>
      resolve(code ?? SIGNAL_BASE + (signal === "SIGINT" ? SIGINT : signal === "SIGTERM" ? SIGTERM : 1)),
    );
  }).finally(() => {
    release?.();
    io.signal.removeEventListener("abort", terminate);
  });
}

/** `process.execve`, from Node 22.15 on: the same process goes on as another program. */
type Execve = (file: string, args: readonly string[], env: Io["env"]) => never;

/** In the environment of a program whose parent lives on for it alone: the parent's pid. */
const PARENT = "TMUXWIRE_RESTARTED_BY";

/**
 * This process becomes the program. Where Node cannot do that, it starts the program and lives on as its parent, so that
 * whoever waits for this process, or signals it, reaches the program; one that is followed by another in turn says so to that
 * parent and ends. Everything of ours has to be closed. Resolves with the exit code.
 */
export async function inOurPlace(io: Io, { program, args, env }: ForegroundProgram): Promise<number> {
  const { execve } = process as { readonly execve?: Execve };
  if (execve !== undefined) return execve.call(process, program, [program, ...args], env);
  if (isFollowed(env)) {
    await new Promise((resolve) => process.send?.({ program, args }, undefined, undefined, resolve));
    return 0;
  }
  let next: Pick<ForegroundProgram, "program" | "args"> | undefined = { program, args };
  let exitCode = 0;
  while (next !== undefined) {
    const current: ForegroundProgram = { ...next, env: { ...env, [PARENT]: String(process.pid) } };
    next = undefined;
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    exitCode = await inForeground(io, current, (message) => (next = message as ForegroundProgram));
  }
  return exitCode;
}

/** Whether this process's parent lives on for it alone. */
export const isFollowed = (env: Io["env"]): boolean =>
  process.send !== undefined && env[PARENT] === String(process.ppid);

/** A program's output; empty if the program fails. */
export const printedBy = ({ program, args, env }: ForegroundProgram): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, [...args], { env: { ...env } }, (error, stdout) => resolve(error === null ? stdout : ""));
  });
