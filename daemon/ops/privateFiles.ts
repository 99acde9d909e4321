/**
 * Private files and atomic writes. Only we may write to the directory of a private file: another user who could put a link or
 * a file there could make us write elsewhere, or read their data. An atomic write goes to a temporary file beside the target
 * and renames it, so that a reader, also after a crash, sees either the old content or the new.
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
import { fieldsOf } from "../../protocol/text/jsonObject.ts";

const OTHERS_WRITE = 0o022;
const OTHERS = 0o077;

export const isOwn = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

/** @param setting that chooses another path @throws AppError CONFIGURATION_INVALID; the system's Error if it cannot be created */
export function makeOwnDirectory(directory: string, setting: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const stats = lstatSync(directory);
  if (stats.isSymbolicLink()) throw refused(`${directory} is a symbolic link; use the directory it points to`);
  requireOurs(directory, stats.uid, setting);
  if ((stats.mode & OTHERS_WRITE) !== 0)
    throw refused(`${directory} is writable by others; run \`chmod 700 ${directory}\``);
}

/** Checks the file if it exists. @throws AppError CONFIGURATION_INVALID */
export function requireOwnFile(path: string, setting: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) throw refused(`${path} is a symbolic link; give the file itself with ${setting}`);
  if (!stats.isFile()) throw refused(`${path} is not a regular file; choose another with ${setting}`);
  requireOurs(path, stats.uid, setting);
  if ((stats.mode & OTHERS_WRITE) === 0) return;
  throw refused(
    `${path} is writable by others and may have been changed; move it away, or run \`chmod 600 ${path}\` to trust it`,
  );
}

function requireOurs(path: string, uid: number, setting: string): void {
  if (!isOwn(uid)) throw refused(`${path} belongs to user ${uid}, not to you; choose another path with ${setting}`);
}

const refused = (message: string): AppError => new AppError("CONFIGURATION_INVALID", message);

/** `CONFIGURATION_INVALID` for a file of ours that could not be written: what is in the way, and what to do. */
export function unwritable(path: string, error: unknown): AppError {
  const { code = "unknown error" } = error as NodeJS.ErrnoException;
  const todo = isNoRoom(code) ? "free some space there" : "make its directory writable";
  return new AppError("CONFIGURATION_INVALID", `cannot write ${path} (${code}); ${todo}`, { cause: error });
}

/** Out of space, inodes or quota. */
export const isNoRoom = (code: unknown): boolean => code === "ENOSPC" || code === "EDQUOT";

/** Of a file whose version is higher than the one we know: what it means is not known here, so it is neither read nor replaced. */
export const writtenByNewer = (path: string, version: number, known: number): AppError =>
  new AppError(
    "INCONSISTENT_STATE",
    `${path} was written by a newer tmuxwire (version ${version} of the file; this one knows ${known}): install that ` +
      "tmuxwire again, or move the file away to begin without it",
    { details: { reason: "newer_version" } },
  );

/** @param content of a file of JSON with a `version` @throws AppError INCONSISTENT_STATE */
export function requireKnownContent(path: string, content: unknown, known: number): void {
  const version = fieldsOf(content)?.["version"];
  if (typeof version === "number" && version > known) throw writtenByNewer(path, version, known);
}

interface FoundFile {
  /** Undefined if it is not a regular file, or larger than allowed. */
  readonly bytes: Buffer | undefined;
  readonly isFile: boolean;
  readonly uid: number;
  /** Its mode, such as 0644, if others have any access to it. */
  readonly openMode: string | undefined;
}

interface ReadOptions {
  readonly maxBytes?: number;
  readonly followsLinks?: boolean;
}

/** Reads a file of text, with what the caller needs to refuse it. Undefined if it does not exist. @throws the system's Error; ELOOP for a link */
export function readPrivate(path: string, options: ReadOptions = {}) {
  const found = readPrivateBytes(path, options);
  return found && { ...found, text: found.bytes?.toString("utf8") };
}

/** The same for a file of any kind. */
export function readPrivateBytes(
  path: string,
  { maxBytes = Infinity, followsLinks = false }: ReadOptions,
): FoundFile | undefined {
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for its other end.
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
      bytes: isFile && stats.size <= maxBytes ? readFileSync(fd) : undefined,
      isFile,
      uid: stats.uid,
      openMode: (stats.mode & OTHERS) === 0 ? undefined : (stats.mode & 0o777).toString(8).padStart(4, "0"),
    };
  } finally {
    closeSync(fd);
  }
}

/** Atomically writes a file that only its owner can access. A link is replaced. @throws the system's Error */
export function replacePrivate(path: string, data: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  throughTemporary(path, data, 0o600, (temporary) => renameSync(temporary, path));
  syncDirectory(dirname(path));
}

/** Like `replacePrivate`, but if several processes create the file at once, only one succeeds. Returns whether it was this one. */
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

/** Like `createPrivate`, for a directory of files by name, each with its mode. */
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
 * For files that a person or another program also uses: keeps mode and owner, and replaces a symbolic link's target, not the
 * link. @param mode of a new file @throws the system's Error
 */
export function replaceKeeping(path: string, data: string | Uint8Array, mode: number): void {
  mkdirSync(dirname(path), { recursive: true });
  const target = lstatSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path);
  const old = statSync(target, { throwIfNoEntry: false });
  // A link may point to /dev/null, which root could replace.
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

/** Only root can change a file's owner; another owner is expected only when we run as root. */
function keepOwner(fd: number, { uid, gid }: { readonly uid: number; readonly gid: number }): void {
  try {
    fchownSync(fd, uid, gid);
  } catch {
    // The new file belongs to us, as with any editor.
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
 * Atomically writes a file without blocking the event loop. The directory must exist. @param options.creates fails with
 * EEXIST if the file exists; otherwise the file is replaced and gets exactly `mode` @throws the system's Error
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

/** A short name for a temporary file; "wx" refuses an existing one. */
const beside = (path: string): string => join(dirname(path), `.${unique()}.tmp`);

/** Without `node:crypto`, which every command would have to load. */
const unique = (): string => `${process.pid}-${Math.random().toString(36).slice(2)}`;

/** Makes the new name survive a power loss. Not all file systems support it. */
function syncDirectory(directory: string): void {
  try {
    const fd = openSync(directory, "r");
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file's content is synced in any case.
  }
}
