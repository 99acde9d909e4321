/** Reads, atomically replaces and removes files of other programs and of the user; errors name the file. */
import { lstatSync, readFileSync, rmSync } from "node:fs";
import { replaceKeeping } from "../../daemon/ops/privateFiles.ts";
import { AppError } from "../../protocol/errors.ts";

/** Undefined if the file does not exist. @throws AppError CONFIGURATION_INVALID */
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

/** @param mode of a new file; an existing one keeps its own. @throws AppError CONFIGURATION_INVALID */
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
    throw new AppError(
      "CONFIGURATION_INVALID",
      `cannot read or write ${path} (${code ?? String(error)}); check its owner and permissions`,
      {
        cause: error,
      },
    );
  }
}
