/** `~/.freshell` (`FRESHELL_HOME` instead of the home directory), and what its files fail with. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../cli/cliIo.ts";

export function freshellHome({ env, homeDir }: Pick<Io, "env" | "homeDir">): string {
  const given = env["FRESHELL_HOME"];
  return join(given === undefined || given === "" ? homeDir : given, ".freshell");
}

export const unusable = (path: string, why: string, cause?: unknown): AppError =>
  new AppError("INTERNAL_ERROR", `${path} ${why}`, { cause });

/** @param what was tried, for the message. @throws AppError INTERNAL_ERROR */
export function attempt<Result>(path: string, what: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw unusable(path, `cannot be ${what} (${(error as NodeJS.ErrnoException).code ?? String(error)})`, error);
  }
}

/** Undefined when there is no such file. @throws AppError INTERNAL_ERROR */
export function readText(path: string): string | undefined {
  return attempt(path, "read", () => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return undefined;
      throw error;
    }
  });
}
