/** Files of other programs and of the user: read, replaced and removed whole, or refused with the file's name. */
import { lstatSync, readFileSync, rmSync } from "node:fs";
import { replaceKeeping } from "../../daemon/ops/privateFiles.ts";
import { AppError } from "../../protocol/errors.ts";

/** Undefined when there is none. @throws AppError CONFIGURATION_INVALID */
export function readWhole(path: string): Uint8Array | undefined {
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

/** @param mode of a new file; one that is there keeps its own. @throws AppError CONFIGURATION_INVALID */
export function replaceWhole(path: string, data: string | Uint8Array, mode = 0o666): void {
  onDisk(path, () => replaceKeeping(path, data, mode));
}

/** @throws AppError CONFIGURATION_INVALID */
export function removeFile(path: string): void {
  onDisk(path, () => rmSync(path, { force: true }));
}

function onDisk<T>(path: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AppError("CONFIGURATION_INVALID", `${path} cannot be used (${code ?? String(error)}); is it yours?`, {
      cause: error,
    });
  }
}
