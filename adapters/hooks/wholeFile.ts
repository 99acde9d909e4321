/**
 * Files that are replaced atomically: a reader meanwhile, or after a crash, sees the old one or the new one. The mode stays,
 * and a symbolic link's target is replaced, not the link.
 */
import {
  chmodSync,
  closeSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
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
  onDisk(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    const there = lstatSync(path, { throwIfNoEntry: false });
    const target = there === undefined ? path : realpathSync(path);
    const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
    const old = statSync(target, { throwIfNoEntry: false });
    try {
      const fd = openSync(temporary, "wx", mode);
      try {
        writeFileSync(fd, data);
        if (old !== undefined) keepOwner(fd, old);
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      if (old !== undefined) chmodSync(temporary, old.mode & 0o7777);
      renameSync(temporary, target);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    syncDirectory(dirname(target));
  });
}

/** @throws AppError CONFIGURATION_INVALID */
export function removeFile(path: string): void {
  onDisk(path, () => rmSync(path, { force: true }));
}

/** Only root can change a file's owner, and only as root is another owner expected. */
function keepOwner(fd: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // The new file is ours, as with every editor.
  }
}

function syncDirectory(directory: string): void {
  const fd = openSync(directory, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
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
