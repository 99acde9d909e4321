/**
 * Text files read and written whole. A file that has changed since it was read, by its content, is not
 * overwritten. Writes of one file are serialized, and a file is replaced atomically.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, open, readdir, realpath, stat, writeFile } from "node:fs/promises";
import { putFile } from "../../../daemon/ops/privateFiles.ts";
import {
  type FileEntry,
  type FileResponse,
  type FolderResponse,
  MAX_FILE_BYTES,
} from "../../../protocol/api/freshell/freshellFiles.ts";
import { AppError, invalidArgument } from "../../../protocol/errors.ts";
import { dirname, isAbsolute, join, normalize, sep } from "node:path";

/**
 * Which paths the page may read and write: those whose real path is in the home directory or in a directory that a terminal began
 * in. Links are resolved first. For other paths it is not revealed whether they exist.
 */
export interface AllowedPath {
  /** Without links, as far as the path exists. */
  readonly path: string;
  readonly exists: boolean;
}

/** @throws AppError INVALID_ARGUMENT, FORBIDDEN */
export async function allowedPath(given: string, homeDir: string, folders: readonly string[]): Promise<AllowedPath> {
  const asked = given === "~" || given.startsWith("~/") ? join(homeDir, given.slice(1)) : given;
  if (!isAbsolute(asked)) throw invalidArgument("path: must be absolute, or begin with ~/");
  const found = await resolved(normalize(asked));
  for (const folder of new Set([homeDir, ...folders])) {
    const root = await realpath(folder).catch(() => undefined);
    if (root !== undefined && isWithin(found.path, root)) return found;
  }
  throw outside();
}

/** The real path; for a missing file, that of the deepest existing folder plus the rest. */
async function resolved(path: string): Promise<AllowedPath> {
  try {
    return { path: await realpath(path), exists: true };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") {
      const folder = dirname(path);
      const parent = folder === path ? { path } : await resolved(folder);
      return { path: join(parent.path, path.slice(folder.length)), exists: false };
    }
    // A loop of links, a file where a folder should be, a folder without permission.
    throw outside();
  }
}

const isWithin = (path: string, root: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);

const outside = (): AppError =>
  new AppError(
    "FORBIDDEN",
    "the path is neither in the home directory nor in a directory in which a terminal was started",
    {
      details: { reason: "outside" },
    },
  );

/** Entries listed of one folder. */
const MAX_ENTRIES = 2_000;
/** Without O_NONBLOCK opening a FIFO would wait for its other end. */
const READ_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
const WRITE_FLAGS = constants.O_WRONLY | constants.O_TRUNC | constants.O_NONBLOCK | constants.O_NOFOLLOW;

interface ReadFile {
  readonly bytes: Buffer;
  readonly mtimeMs: number;
  readonly mode: number;
  /** Hard links, or another owner: replacing it by a new file would lose them. */
  readonly isShared: boolean;
}

export class TextFiles {
  /** By path: the last write begun. */
  readonly #writes = new Map<string, Promise<unknown>>();

  /** @throws AppError NOT_FOUND, INVALID_TARGET, RESOURCE_LIMIT, FORBIDDEN */
  async read({ path, exists }: AllowedPath): Promise<FileResponse> {
    if (!exists) throw missing();
    const { bytes, mtimeMs } = await readWhole(path);
    return { path, etag: etagOf(bytes), mtimeMs, bytes: bytes.length, text: textOf(bytes) };
  }

  /** @throws AppError as `read`; REVISION_CONFLICT when it holds something else than `etag` says */
  write(allowed: AllowedPath, text: string, etag: string | null): Promise<FileEntry> {
    const bytes = Buffer.from(text);
    if (bytes.length > MAX_FILE_BYTES) return Promise.reject(tooLong());
    const before = this.#writes.get(allowed.path) ?? Promise.resolve();
    const written = before.catch(() => undefined).then(() => replace(allowed.path, bytes, etag));
    this.#writes.set(allowed.path, written);
    const forget = (): void => {
      if (this.#writes.get(allowed.path) === written) this.#writes.delete(allowed.path);
    };
    written.then(forget, forget);
    return written;
  }

  /** @throws AppError NOT_FOUND, INVALID_TARGET, FORBIDDEN */
  async list({ path, exists }: AllowedPath): Promise<FolderResponse> {
    if (!exists) throw missing();
    const found = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      throw refusalOf(error);
    });
    // A link counts as its target; a dangling one is left out.
    const entries = await Promise.all(
      found.slice(0, MAX_ENTRIES).map(async (entry) => {
        const kind = entry.isSymbolicLink() ? await stat(`${path}/${entry.name}`).catch(() => undefined) : entry;
        if (kind?.isDirectory() === true) return [{ name: entry.name, kind: "folder" as const }];
        return kind?.isFile() === true ? [{ name: entry.name, kind: "file" as const }] : [];
      }),
    );
    const order = ({ name, kind }: FolderResponse["entries"][number]): string => `${kind === "folder" ? 0 : 1}${name}`;
    return {
      path,
      entries: entries.flat().sort((one, other) => (order(one) < order(other) ? -1 : 1)),
      cut: found.length > MAX_ENTRIES,
    };
  }
}

async function replace(path: string, bytes: Buffer, etag: string | null): Promise<FileEntry> {
  const found = await readWhole(path).catch((error: unknown) => {
    if (error instanceof AppError && error.code === "NOT_FOUND") return undefined;
    throw error;
  });
  if (found !== undefined) textOf(found.bytes);
  const currentEtag = found === undefined ? null : etagOf(found.bytes);
  if (currentEtag !== etag) throw changed(currentEtag);
  try {
    if (found?.isShared === true) await overwrite(path, bytes);
    // One that has appeared meanwhile is somebody else's: creating it fails.
    else await putFile(path, bytes, { mode: found?.mode ?? 0o666, creates: found === undefined });
  } catch (error) {
    throw refusalOf(error);
  }
  const { mtimeMs } = await stat(path);
  return { path, etag: etagOf(bytes), mtimeMs, bytes: bytes.length };
}

const overwrite = (path: string, bytes: Buffer): Promise<void> =>
  writeFile(path, bytes, { flag: WRITE_FLAGS, flush: true });

async function readWhole(path: string): Promise<ReadFile> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, READ_FLAGS);
    const found = await file.stat();
    const { size, mtimeMs, mode, nlink, uid, dev, ino } = found;
    if (!found.isFile()) throw noFile();
    // The path may have got a link since it was checked.
    const again = await stat(await realpath(path));
    if (again.dev !== dev || again.ino !== ino || (await realpath(path)) !== path) throw outside();
    if (size > MAX_FILE_BYTES) throw tooLong();
    const bytes = await readBounded(file);
    return { bytes, mtimeMs, mode: mode & 0o7777, isShared: nlink > 1 || uid !== process.getuid?.() };
  } catch (error) {
    throw refusalOf(error);
  } finally {
    await file?.close();
  }
}

/** Stops at the bound even if the file grows or reports no size. */
async function readBounded(file: FileHandle): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of file.createReadStream({ autoClose: false, end: MAX_FILE_BYTES }) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
  }
  if (length > MAX_FILE_BYTES) throw tooLong();
  return Buffer.concat(chunks, length);
}

const etagOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("base64url").slice(0, 22);

/** @throws AppError INVALID_TARGET: writing it back would change the file */
function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new AppError("INVALID_TARGET", "the file is not UTF-8 text and cannot be edited here", {
      details: { reason: "not_text" },
    });
  }
}

const missing = (): AppError => new AppError("NOT_FOUND", "there is no such file or folder");
const noFile = (): AppError =>
  new AppError("INVALID_TARGET", "not a regular file", { details: { reason: "not_a_file" } });
const tooLong = (): AppError =>
  new AppError("RESOURCE_LIMIT", `the file is larger than ${MAX_FILE_BYTES} bytes`, {
    details: { limit: "fileBytes", max: MAX_FILE_BYTES },
  });
const changed = (currentEtag: string | null | undefined): AppError =>
  new AppError("REVISION_CONFLICT", "the file has changed since it was read: nothing was written", {
    details: { reason: "file_changed", ...(currentEtag === undefined ? {} : { currentEtag }) },
  });
const notAllowed = (): AppError =>
  new AppError("FORBIDDEN", "permission denied", {
    details: { reason: "permission" },
  });
const noRoom = (): AppError =>
  new AppError("RESOURCE_LIMIT", "no space is left on the disk; nothing was changed", {
    details: { limit: "disk" },
  });

const REFUSALS: readonly (readonly [codes: readonly string[], refusal: () => AppError])[] = [
  [["ENOENT"], missing],
  [["EISDIR", "ENOTDIR", "ENXIO", "ENODEV"], noFile],
  [["EEXIST"], () => changed(undefined)],
  [["ELOOP"], outside],
  [["EACCES", "EPERM", "EROFS"], notAllowed],
  [["ENOSPC", "EDQUOT"], noRoom],
];

/** Replaces the system's message, which must not reach clients. */
function refusalOf(error: unknown): unknown {
  const code = error instanceof AppError ? "" : ((error as NodeJS.ErrnoException).code ?? "");
  return REFUSALS.find(([codes]) => codes.includes(code))?.[1]() ?? error;
}
