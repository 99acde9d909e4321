/**
 * SQLite as Node has it (`node:sqlite`), from a package that also serves Node 20 and brings its binary along. Only what both
 * have is used, so that Node's own can take over by changing the import here, the only one.
 */
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { DatabaseSync } from "@photostructure/sqlite";

export type Database = DatabaseSyncInstance;
export type Statement = ReturnType<Database["prepare"]>;
export { DatabaseSync };

/** Primary result codes (https://www.sqlite.org/rescode.html); the extended ones have these in their low byte. */
const BUSY = 5;
const LOCKED = 6;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANNOT_OPEN = 14;
const NOT_A_DATABASE = 26;

/** All or nothing, with the right to write from the start. */
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
 * The first value that a pragma returns. Not by a prepared statement: one that is still known to the collector keeps the
 * files open after `close`, and a log beside the database that nobody would have left there.
 */
export function pragma(database: Database, name: string): unknown {
  const values: unknown[] = [];
  database.function("told", (value: unknown) => values.push(value));
  database.exec(`SELECT told(${name}) FROM pragma_${name}`);
  return values[0];
}

/** Everything that was written is in the one file then, unless another process is reading: then it stays in the log. */
export function closeDatabase(database: Database): void {
  database.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

/** Another connection holds what is asked for. */
export const isLocked = (error: unknown): boolean => [BUSY, LOCKED].includes(resultCode(error));

/** The disk has no room for what was to be written. */
export const isFull = (error: unknown): boolean => resultCode(error) === FULL;

/** One of its files could not be written or made, for whatever reason. */
export const cannotWrite = (error: unknown): boolean => [IO_ERROR, CANNOT_OPEN].includes(resultCode(error));

/** The file is no database, or no longer one. */
export const isDamaged = (error: unknown): boolean => [CORRUPT, NOT_A_DATABASE].includes(resultCode(error));

/** As SQLite would throw it, for damage that only a check finds. */
export const damageError = (message: string): Error => Object.assign(new Error(message), { errcode: CORRUPT });

const resultCode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
