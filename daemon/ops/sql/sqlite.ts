/**
 * SQLite with the API of `node:sqlite`, from a package that also supports Node 20 and ships its binary. Only functions that
 * both have are used, so that changing this one import switches to Node's own.
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

/** Runs `work` in a transaction that takes the write lock at its start. */
export function inTransaction(database: Database, work: () => void): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    work();
    database.exec("COMMIT");
  } catch (error) {
    // Some errors, such as a full disk, have already ended it.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

/**
 * The first value that a pragma returns. Uses no prepared statement, because one that is not garbage-collected yet keeps the
 * files open after `close` and leaves a log beside the database.
 */
export function pragma(database: Database, name: string): unknown {
  const values: unknown[] = [];
  database.function("collect", (value: unknown) => values.push(value));
  database.exec(`SELECT collect(${name}) FROM pragma_${name}`);
  return values[0];
}

/**
 * Moves everything from the log into the database file, and removes the log and its index. If another process is reading,
 * the disk is full or the file is no longer writable (somebody removed it), they stay for the next start. Closing alone
 * removes neither, because statements that are not garbage-collected yet keep the files open.
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

/** Whether another connection holds the lock. */
export const isLocked = (error: unknown): boolean => [BUSY, LOCKED].includes(resultCode(error));

/** Whether the disk is full. */
export const isFull = (error: unknown): boolean => resultCode(error) === FULL;

/** Whether one of its files could not be written or created, for whatever reason. */
export const cannotWrite = (error: unknown): boolean => [IO_ERROR, CANNOT_OPEN].includes(resultCode(error));

/** Whether the file is not a database, or a damaged one. */
export const isDamaged = (error: unknown): boolean => [CORRUPT, NOT_A_DATABASE].includes(resultCode(error));

/** An error like SQLite's own, for damage that only a check finds. */
export const damageError = (message: string): Error => Object.assign(new Error(message), { errcode: CORRUPT });

const resultCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
