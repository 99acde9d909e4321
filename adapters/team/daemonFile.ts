/**
 * `daemon.json`: how the extension, inside pi, finds this daemon. Whoever can read it can start workers, so it is its
 * owner's alone; it appears whole, and goes with the daemon unless another one has written it since.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOwn, makeOwnDirectory, readPrivate, replacePrivate } from "../../daemon/ops/privateFiles.ts";
import { AppError } from "../../protocol/errors.ts";

interface DaemonAddress {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

export const daemonFilePath = (rootDir: string): string => join(rootDir, "daemon.json");

/** @throws AppError CONFIGURATION_INVALID */
export async function writeDaemonFile(path: string, address: DaemonAddress): Promise<void> {
  try {
    // Others who may write there could put an address of their own in its place.
    makeOwnDirectory(dirname(path), "TMUXWIRE_TEAM_DIR");
    replacePrivate(path, `${JSON.stringify(address)}\n`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw refused(`${path} cannot be written (${code ?? "unknown error"}); make its directory writable for you`, error);
  }
}

/** What the file says; undefined when it is missing, is not its owner's alone, or is not what we write. */
export async function readDaemonFile(path: string): Promise<DaemonAddress | undefined> {
  try {
    const found = readPrivate(path);
    if (found?.text === undefined || !isOwn(found.uid) || found.openMode !== undefined) return undefined;
    const { url, token, pid } = JSON.parse(found.text) as Record<string, unknown>;
    if (typeof url !== "string" || typeof token !== "string" || typeof pid !== "number") return undefined;
    return { url, token, pid };
  } catch {
    return undefined;
  }
}

export async function removeDaemonFile(path: string, pid: number): Promise<void> {
  if ((await readDaemonFile(path))?.pid === pid) await rm(path, { force: true }).catch(() => undefined);
}

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });
