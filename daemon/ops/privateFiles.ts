/**
 * Files that nobody else may change, and files that appear whole. The directory is ours and only we write in it: whoever
 * could put a link or a file of their own there would have us write elsewhere, or read what they wrote. A file is written
 * under another name beside it and then put in its place, so that a reader meanwhile, or after a crash, sees the old one or
 * the new one.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  fsyncSync,
  linkSync,
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
import { link, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../protocol/errors.ts";

const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;

export const isOwn = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

/** @param setting that chooses another place @throws AppError CONFIGURATION_INVALID; the system's Error when it cannot be made */
export function makeOwnDirectory(directory: string, setting: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stats = lstatSync(directory);
  if (stats.isSymbolicLink()) throw refused(`${directory} is a symbolic link; use the directory it leads to`);
  requireOurs(directory, stats.uid, setting);
  if ((stats.mode & OTHERS_WRITE) !== 0) throw refused(`others may write in ${directory}; run chmod 700 ${directory}`);
}

/** If it is there. @throws AppError CONFIGURATION_INVALID */
export function requireOwnFile(path: string, setting: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) throw refused(`${path} is a symbolic link; give the file itself with ${setting}`);
  if (!stats.isFile()) throw refused(`${path} is not a file; choose another with ${setting}`);
  requireOurs(path, stats.uid, setting);
  if ((stats.mode & OTHERS_WRITE) === 0) return;
  throw refused(
    `others may write in ${path}, and may have done so; move it away, or run chmod 600 ${path} to trust it`,
  );
}

function requireOurs(path: string, uid: number, setting: string): void {
  if (!isOwn(uid)) throw refused(`${path} belongs to user ${uid}, not to you; choose another place with ${setting}`);
}

const refused = (message: string): AppError => new AppError("CONFIGURATION_INVALID", message);

interface FoundFile {
  /** Undefined: not a regular file, or longer than asked. */
  readonly text: string | undefined;
  readonly isFile: boolean;
  readonly uid: number;
  /** Its mode, such as 0644, when others may do anything with it. */
  readonly openMode: string | undefined;
}

/** Checks and reads the same open file; the caller refuses. Undefined when there is none. @throws the system's Error; ELOOP for a link */
export function readPrivate(
  path: string,
  { maxBytes = Infinity, followsLinks = false }: { readonly maxBytes?: number; readonly followsLinks?: boolean } = {},
): FoundFile | undefined {
  let fd: number;
  try {
    // Without O_NONBLOCK opening a FIFO would wait for its other end.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (followsLinks ? 0 : constants.O_NOFOLLOW));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  try {
    const stats = fstatSync(fd);
    const isFile = stats.isFile();
    return {
      text: isFile && stats.size <= maxBytes ? readFileSync(fd, "utf8") : undefined,
      isFile,
      uid: stats.uid,
      openMode: (stats.mode & OTHERS) === 0 ? undefined : (stats.mode & 0o777).toString(8).padStart(4, "0"),
    };
  } finally {
    closeSync(fd);
  }
}

/** For its owner alone. A link is replaced. @throws the system's Error */
export function replacePrivate(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  throughTemporary(path, text, 0o600, (temporary) => renameSync(temporary, path));
  syncDirectory(dirname(path));
}

/** As `replacePrivate`. Of several processes that create it at once, one succeeds, and all find its file. Returns whether it was us. */
export function createPrivate(path: string, text: string): boolean {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    throughTemporary(path, text, 0o600, (temporary) => linkSync(temporary, path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** As `createPrivate`, for a directory of files by name, each with its mode. */
export function createDirectory(
  path: string,
  files: Readonly<Record<string, readonly [text: string, mode: number]>>,
): boolean {
  const temporary = `${path}.${unique()}`;
  mkdirSync(temporary, { mode: 0o700 });
  try {
    for (const [name, [text, mode]] of Object.entries(files)) {
      writeFileSync(join(temporary, name), text, { mode, flag: "wx", flush: true });
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true });
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTEMPTY" || code === "EEXIST") return false;
    throw error;
  }
  syncDirectory(dirname(path));
  return true;
}

/**
 * For files that a person or another program also has: mode and owner stay, and a symbolic link's target is replaced, not the
 * link. @param mode of a new file @throws the system's Error
 */
export function replaceKeeping(path: string, data: string | Uint8Array, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const target = lstatSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
  const old = statSync(target, { throwIfNoEntry: false });
  // A link may lead to /dev/null, which root could replace.
  if (old?.isFile() === false) throw new Error("it is not a regular file");
  throughTemporary(target, data, mode, (temporary, fd) => {
    if (old !== undefined) {
      keepOwner(fd, old);
      chmodSync(temporary, old.mode & 0o7777);
    }
    renameSync(temporary, target);
  });
  syncDirectory(dirname(target));
}

/** Only root can change a file's owner, and only as root is another owner expected. */
function keepOwner(fd: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // The new file is ours, as with every editor.
  }
}

function throughTemporary(
  path: string,
  data: string | Uint8Array,
  mode: number,
  put: (temporary: string, fd: number) => void,
): void {
  const temporary = beside(path);
  const fd = openSync(temporary, "wx", mode);
  try {
    writeFileSync(fd, data);
    fsyncSync(fd);
    put(temporary, fd);
  } finally {
    closeSync(fd);
    rmSync(temporary, { force: true });
  }
}

/**
 * While the daemon serves: nobody waits for the disk. The directory is there. @param options.creates fails with EEXIST when
 * there is one; otherwise it is replaced, and has `mode` exactly @throws the system's Error
 */
export async function putFile(
  path: string,
  data: string | Uint8Array,
  { mode, creates }: { readonly mode: number; readonly creates: boolean },
): Promise<void> {
  const temporary = beside(path);
  const file = await open(temporary, "wx", mode);
  try {
    try {
      if (!creates) await file.chmod(mode);
      await file.writeFile(data);
      await file.sync();
    } finally {
      await file.close();
    }
    await (creates ? link : rename)(temporary, path);
  } finally {
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** Short, whatever the file's own name. "wx" refuses one that is there. */
const beside = (path: string): string => join(dirname(path), `.${unique()}.tmp`);

/** Without `node:crypto`, which every command would load. */
const unique = (): string => `${process.pid}-${Math.random().toString(36).slice(2)}`;

/** So that the new name survives a power loss. Some file systems cannot. */
function syncDirectory(directory: string): void {
  try {
    const fd = openSync(directory, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file's content is synced anyway.
  }
}
