/**
 * `daemon.json`: how the extension, inside pi, finds this daemon. Whoever can read it can start workers, so it is its
 * owner's alone; it appears whole, and goes with the daemon unless another one has written it since.
 */
import { randomBytes } from "node:crypto";
import { lstat, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../../protocol/errors.ts";

interface DaemonAddress {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

export const daemonFilePath = (rootDir: string): string => join(rootDir, "daemon.json");

/** @throws AppError CONFIGURATION_INVALID */
export async function writeDaemonFile(path: string, address: DaemonAddress): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await requirePrivate(dirname(path));
    await writeFile(temporary, `${JSON.stringify(address)}\n`, { mode: 0o600, flag: "wx" });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refused(`${path} cannot be written (${code ?? "unknown error"}); make its directory writable for you`, error);
  }
}

/** What the file says; undefined when it is missing, is not its owner's alone, or is not what we write. */
export async function readDaemonFile(path: string): Promise<DaemonAddress | undefined> {
  try {
    const { uid, mode } = await lstat(path);
    if (!isOwn(uid) || (mode & 0o170_077) !== 0o100_000) return undefined;
    const { url, token, pid } = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    if (typeof url !== "string" || typeof token !== "string" || typeof pid !== "number") return undefined;
    return { url, token, pid };
  } catch {
    return undefined;
  }
}

export async function removeDaemonFile(path: string, pid: number): Promise<void> {
  if ((await readDaemonFile(path))?.pid === pid) await rm(path, { force: true }).catch(() => undefined);
}

/** Others who may write there could put an address of their own in its place. */
async function requirePrivate(directory: string): Promise<void> {
  const stats = await lstat(directory);
  if (!stats.isDirectory()) throw refused(`${directory} is not a directory; use the one it links to`);
  if (!isOwn(stats.uid)) throw refused(`${directory} belongs to user ${stats.uid}, not to you`);
  if ((stats.mode & 0o022) !== 0) throw refused(`others may write in ${directory}; run chmod 700 ${directory}`);
}

const isOwn = (uid: number): boolean => process.getuid === undefined || process.getuid() === uid;

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });
