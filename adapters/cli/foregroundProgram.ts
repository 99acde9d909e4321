/**
 * Runs another program in this terminal in our place: it gets the terminal and its signals until it exits, and its exit
 * status becomes ours. For commands only; the daemon runs no programs.
 */
import { execFile, spawn } from "node:child_process";
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

/** Resolves with its exit code. @throws AppError TMUX_UNAVAILABLE or CONFIGURATION_INVALID when it cannot be started */
export function inForeground(io: Io, { program, args, env }: ForegroundProgram): Promise<number> {
  // The program gets the terminal's Ctrl-C itself.
  const release = io.takeInterrupts?.(() => undefined);
  const child = spawn(program, args, { stdio: "inherit", env: { ...env } });
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

/** A program's output; empty if the program fails. */
export const printedBy = ({ program, args, env }: ForegroundProgram): Promise<string> =>
  new Promise((resolve) => {
    execFile(program, [...args], { env: { ...env } }, (error, stdout) => resolve(error === null ? stdout : ""));
  });
