/** Reads, atomically replaces and removes files of other programs and of the user; errors name the file. */
import { lstatSync, readFileSync, rmSync } from "node:fs";
import { isNoRoom, replaceKeeping } from "../../daemon/ops/privateFiles.ts";
import { AppError } from "../../protocol/errors.ts";

/** Undefined if the file does not exist. @throws AppError CONFIGURATION_INVALID */
export function readUserFile(path: string): Uint8Array | undefined {
  return onDisk(path, () => {
    try {
      return readFileSync(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" && lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
      throw error;
    }
  });
}

/** @param mode of a new file; an existing one keeps its own. @throws AppError CONFIGURATION_INVALID */
export function replaceUserFile(path: string, data: string | Uint8Array, mode = 0o666): void {
  onDisk(path, () => replaceKeeping(path, data, mode));
}

/** Removes the file if it exists. Returns the changed paths, as `replaceIfDifferent` does. @throws AppError CONFIGURATION_INVALID */
export function removeUserFile(path: string): string[] {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
  onDisk(path, () => rmSync(path, { force: true }));
  return [path];
}

/** @param mode of a new file @throws AppError CONFIGURATION_INVALID */
export function replaceIfDifferent(path: string, text: string, mode: number): string[] {
  if (textAt(path) === text) return [];
  replaceUserFile(path, text, mode);
  return [path];
}

/** Undefined if the file does not exist. @throws AppError CONFIGURATION_INVALID */
export function textAt(path: string): string | undefined {
  const bytes = readUserFile(path);
  return bytes === undefined ? undefined : Buffer.from(bytes).toString();
}

function onDisk<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const todo = isNoRoom(code) ? "free some space there" : "check its owner and permissions";
    throw new AppError("CONFIGURATION_INVALID", `cannot read or write ${path} (${code ?? String(error)}); ${todo}`, {
      cause: error,
    });
  }
}
