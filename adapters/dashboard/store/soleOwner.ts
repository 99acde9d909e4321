/**
 * One daemon per database: ids are given out in memory. The lock is a transaction on a file beside it, which the system
 * releases however the process ends.
 */
import { chmodSync, existsSync } from "node:fs";
import { explainDatabaseError, preparePlace } from "../../../daemon/ops/database.ts";
import { type Database, DatabaseSync, isLocked } from "../../../daemon/ops/sqlite.ts";
import { AppError } from "../../../protocol/errors.ts";
import { DASHBOARD_SETTINGS } from "../dashboardConfig.ts";

/** A predecessor that is ending gets this long. */
const WAIT_MS = 2_000;

/** Returns the function that gives it back. @throws AppError CONFIGURATION_INVALID, RESOURCE_LIMIT */
export function becomeSoleOwner(databasePath: string): () => void {
  if (databasePath === ":memory:") return () => undefined;
  preparePlace(databasePath, DASHBOARD_SETTINGS.database);
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
      `another tmuxwire uses ${databasePath}: stop it, or give this one another --dashboard-database`,
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
