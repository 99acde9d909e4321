/**
 * `daemon.json` tells the extension inside pi where this daemon is. Whoever can read it can start workers, so only its owner
 * can; it is written atomically, and removed with the daemon unless another one has written it since.
 */
import { rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isOwn, makeOwnDirectory, readPrivate, replacePrivate, unwritable } from "../../../daemon/ops/privateFiles.ts";
import { fieldsOf, parseJson } from "../../../protocol/text/jsonObject.ts";
import { AppError } from "../../../protocol/errors.ts";

export interface DaemonAddress {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

export const daemonFilePath = (rootDir: string): string => join(rootDir, "daemon.json");

/** @throws AppError CONFIGURATION_INVALID */
export async function writeDaemonFile(path: string, address: DaemonAddress): Promise<void> {
  try {
    // Others who can write to the directory could replace the address with their own.
    makeOwnDirectory(dirname(path), "TMUXWIRE_TEAM_DIR");
    replacePrivate(path, `${JSON.stringify(address)}\n`);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw unwritable(path, error);
  }
}

/** The file's content; undefined if it is missing, accessible to others, or malformed. */
export async function readDaemonFile(path: string): Promise<DaemonAddress | undefined> {
  try {
    const found = readPrivate(path);
    if (found?.text === undefined || !isOwn(found.uid) || found.openMode !== undefined) return undefined;
    const { url, token, pid } = fieldsOf(parseJson(found.text)) ?? {};
    return typeof url === "string" && typeof token === "string" && typeof pid === "number"
      ? { url, token, pid }
      : undefined;
  } catch {
    return undefined;
  }
}

export async function removeDaemonFile(path: string, pid: number): Promise<void> {
  if ((await readDaemonFile(path))?.pid === pid) await rm(path, { force: true }).catch(() => undefined);
}
