/**
 * `~/.freshell` (`FRESHELL_HOME` instead of the home directory) and how its files are written: atomically, readable by their
 * owner alone. A reader meanwhile, or after a crash, sees the old file or the new one.
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import type { Io } from "../../bin/cli/cliIo.ts";

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

/** @throws NodeJS.ErrnoException */
export function replacePrivate(path: string, text: string): void {
  throughTemporary(path, text, (temporary) => renameSync(temporary, path));
  syncFolder(dirname(path));
}

/** Of several processes that create it at once, one succeeds, and all find its file. Returns whether it was us. @throws NodeJS.ErrnoException */
export function createPrivate(path: string, text: string): boolean {
  let isOurs = true;
  throughTemporary(path, text, (temporary) => {
    try {
      linkSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      isOurs = false;
    }
  });
  return isOurs;
}

function throughTemporary(path: string, text: string, put: (temporary: string) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // A process has only one at a time; one left by an earlier process with this pid is overwritten.
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true });
    put(temporary);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** So that the new name survives a power loss. Some file systems cannot. */
function syncFolder(path: string): void {
  try {
    const fd = openSync(path, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file's content is synced anyway.
  }
}
