/**
 * One daemon per database: ids are given out in memory. The lock is a transaction on a file beside it, which the system
 * releases however the process ends.
 */
import { chmodSync, existsSync } from "node:fs";
import { AppError } from "../../../protocol/errors.ts";
import { explainDatabaseError, preparePlace } from "./database.ts";
import { type Database, DatabaseSync, isLocked } from "./sqlite.ts";

/** A predecessor that is ending gets this long. */
const WAIT_MS = 2_000;

/**
 * Returns the function that gives it back.
 * @param setting what chooses another path, for messages
 * @throws AppError CONFIGURATION_INVALID, RESOURCE_LIMIT
 */
export function becomeSoleOwner(databasePath: string, setting: string): () => void {
  if (databasePath === ":memory:") return () => undefined;
  preparePlace(databasePath, setting);
  const path = lockPath(databasePath);
  let lock: Database | undefined;
  try {
    lock = new DatabaseSync(path, { timeout: WAIT_MS });
    chmodSync(path, 0o600);
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (!isLocked(error)) throw explainDatabaseError(path, error);
    throw new AppError(
      "CONFIGURATION_INVALID",
      `another tmuxwire uses ${databasePath}: stop it, or choose another place with ${setting}`,
      { cause: error },
    );
  }
  return () => lock.close();
}

/** Whether a daemon has this database now; changes nothing. */
export function hasOwner(databasePath: string): boolean {
  const path = lockPath(databasePath);
  if (!existsSync(path)) return false;
  const lock = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    lock.exec("SELECT count(*) FROM sqlite_schema");
    return false;
  } catch {
    return true;
  } finally {
    lock.close();
  }
}

const lockPath = (databasePath: string): string => `${databasePath}.lock`;
