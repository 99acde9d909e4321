/**
 * The native API's bearer token: a file that only its owner can read. It is created on the first start and read from
 * then on; one that others can read, or that is not ours, is refused, because whoever has the token can type into every
 * pane.
 */
import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { link, mkdir, open, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { AppError } from "../../protocol/errors.ts";

/** 256 bits: nothing is gained by guessing. */
const TOKEN_BYTES = 32;
/** A hand-written token is no shorter than this, in characters that a header can carry. */
const MIN_TOKEN_CHARS = 32;
const MAX_TOKEN_CHARS = 512;
const TOKEN = /^[\x21-\x7e]+$/;

/** The token in `path`; undefined when there is no such file. @throws AppError CONFIGURATION_INVALID */
export async function readToken(path: string): Promise<string | undefined> {
  const file = await openFile(path);
  if (file === undefined) return undefined;
  try {
    return await tokenOf(path, file);
  } finally {
    await file.close();
  }
}

/** The token in `path`, created when there is none. @throws AppError CONFIGURATION_INVALID */
export async function readOrMakeToken(path: string): Promise<string> {
  const present = await readToken(path);
  if (present !== undefined) return present;
  await makeToken(path);
  const made = await readToken(path);
  if (made === undefined) throw refused(`${path} was removed while it was being made; start again`);
  return made;
}

/** Atomic: of two daemons that start at once, one creates it and both use it. */
async function makeToken(path: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await refuseSharedDirectory(dirname(path));
    await writeFile(temporary, `${randomBytes(TOKEN_BYTES).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
    await link(temporary, path);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    throw refused(`${path} cannot be made (${code ?? "unknown error"}); make its directory writable for you`, error);
  } finally {
    // It may not exist.
    await rm(temporary, { force: true }).catch(() => undefined);
  }
}

/** In a directory that others can write to they could put a token of their own. */
async function refuseSharedDirectory(directory: string): Promise<void> {
  const { uid, mode } = await stat(directory);
  if (!isOwn(uid)) throw refused(`${directory} belongs to user ${uid}; choose another place with XDG_STATE_HOME`);
  if ((mode & 0o022) !== 0) throw refused(`others may write in ${directory}; run chmod 700 ${directory}`);
}

async function openFile(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === "ELOOP") throw refused(`${path} is a symbolic link; give the token file itself`, error);
    throw refused(`${path} cannot be read (${code ?? "unknown error"}); make it readable for you alone`, error);
  }
}

/** Checks and reads one open file. The user is never told to remove a file that holds something else. */
async function tokenOf(path: string, file: FileHandle): Promise<string> {
  const { uid, mode, size } = await file.stat();
  const isFile = (mode & constants.S_IFMT) === constants.S_IFREG;
  if (!isFile) throw refused(`${path} is not a file; give a token file`);
  const token = size > 2 * MAX_TOKEN_CHARS ? "" : (await file.readFile("utf8")).trim();
  if (token.length < MIN_TOKEN_CHARS || token.length > MAX_TOKEN_CHARS || !TOKEN.test(token)) {
    throw refused(`${path} holds no token (${MIN_TOKEN_CHARS} to ${MAX_TOKEN_CHARS} visible ASCII characters)`);
  }
  if (!isOwn(uid)) throw refused(`${path} belongs to user ${uid}, not to you; have a token of your own made elsewhere`);
  if ((mode & 0o077) !== 0) {
    const shown = (mode & 0o777).toString(8).padStart(4, "0");
    throw refused(
      `${path} can be read by others (mode ${shown}), who may know the token by now; remove it to have a new one made`,
    );
  }
  return token;
}

const isOwn = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });
