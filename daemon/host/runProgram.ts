/** Runs a program to its end and returns its output, bounded in time and size. */
import { execFile } from "node:child_process";
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
    const options = { env: { ...env }, timeout: timeoutMs, ...(maxBytes === undefined ? {} : { maxBuffer: maxBytes }) };
    const child = execFile(file, [...args], options, (error, stdout) => {
      if (error === null) resolve({ stdout });
      else resolve({ failure: { code: error.code, message: error.message }, stdout });
    });
    countSpawn(child.pid);
  });
