/**
 * SQLite with the API of `node:sqlite`, from a package that also supports Node 20 and ships its binary. Only what both
 * have is used, so that changing this import, the only one, switches to Node's own.
 */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { DatabaseSync } from "@photostructure/sqlite";

export type Database = DatabaseSyncInstance;
export type Statement = ReturnType<Database["prepare"]>;
export { DatabaseSync };

/** Primary result codes (https://www.sqlite.org/rescode.html); the extended ones have these in their low byte. */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** All or nothing, with the write lock from the start. */
export function inTransaction(database: Database, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    // Some errors, such as a full disk, have ended it already.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * The first value that a pragma returns. Without a prepared statement: one that is not yet garbage-collected keeps the
 * files open after `close`, and leaves a log beside the database.
 */
export function pragma(database: Database, name: string): unknown {
  const values: unknown[] = [];
  database.function("collect", (value: unknown) => values.push(value));
  database.exec(`SELECT collect(${name}) FROM pragma_${name}`);
  return values[0];
}

/**
 * Moves everything from the log into the one file, and removes the log and its index, unless another process is reading,
 * the disk is full or the file is ours to write no more (somebody removed it): then they stay for the next start. Closing alone removes neither: statements that are not yet
 * garbage-collected keep the files open.
 */
export function closeDatabase(database: Database): void {
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE");
  } catch (error) {
    if (!isLocked(error) && !isFull(error) && !cannotWrite(error) && resultCode(error) !== READ_ONLY) throw error;
  } finally {
    database.close();
  }
}

/** Another connection holds the lock. */
export const isLocked = (error: unknown): boolean => [BUSY, LOCKED].includes(resultCode(error));

/** The disk is full. */
export const isFull = (error: unknown): boolean => resultCode(error) === FULL;

/** One of its files could not be written or created, for whatever reason. */
export const cannotWrite = (error: unknown): boolean => [IO_ERROR, CANNOT_OPEN].includes(resultCode(error));

/** The file is not a database, or no longer one. */
export const isDamaged = (error: unknown): boolean => [CORRUPT, NOT_A_DATABASE].includes(resultCode(error));

/** As SQLite would throw it, for damage that only a check finds. */
export const damageError = (message: string): Error => Object.assign(new Error(message), { errcode: CORRUPT });

const resultCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
