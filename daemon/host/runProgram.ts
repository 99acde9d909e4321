/** Runs a program to its end and returns its output, bounded in time and size. */
import { execFile } from "node:child_process";
import { systemClock } from "../time/clock.ts";
import { countSpawn } from "./spawnCount.ts";

interface ProgramEnd {
  /** Why it did not start or succeed; the first line is for people. */
  readonly failure?: { readonly code: string | number | null | undefined; readonly message: string } | undefined;
  readonly stdout: string;
}

interface RunLimits {
  readonly timeoutMs: number;
  readonly maxBytes?: number | undefined;
}

/** Never rejects. @param env the whole environment of the program */
export type RunProgram = (
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  limits: RunLimits,
) => Promise<ProgramEnd>;

export const runProgram: RunProgram = (file, args, env, { timeoutMs, maxBytes }) =>
  new Promise((resolve) => {
    let [hasEnded, isLate] = [false, false];
    const options = { env: { ...env }, ...(maxBytes === undefined ? {} : { maxBuffer: maxBytes }) };
    const child = execFile(file, [...args], options, (error, stdout) => {
      hasEnded = true;
      timer.cancel();
      if (isLate) resolve({ failure: { code: "ETIMEDOUT", message: `no end within ${timeoutMs} ms` }, stdout });
      else if (error === null) resolve({ stdout });
      else resolve({ failure: { code: error.code, message: error.message }, stdout });
    });
    const end = (): void => {
      if (hasEnded) return;
      isLate = true;
      child.kill();
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    // `execFile`'s own limit drops the unread output of a program that ended while this process was busy, and reports success
    // all the same. Two turns of the loop read that output and the end first.
    const timer = systemClock.callAt(systemClock.nowMs() + timeoutMs, () => setImmediate(() => setImmediate(end)));
    countSpawn(child.pid);
  });
