/**
 * Opens our SQLite files: WAL, a bounded wait for locks, migrations by `user_version`. A file that is not a database is
 * moved aside, never deleted, and the caller gets its new name. A file of an older version is migrated, and a copy of it is
 * kept; one of a newer version is refused, because what it means is not known here.
 */
import { chmodSync, closeSync, existsSync, openSync, readSync, renameSync, rmSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError, messageOf } from "../../../protocol/errors.ts";
import { isNoRoom, makeOwnDirectory, requireOwnFile, writtenByNewer } from "../privateFiles.ts";
import {
  cannotWrite,
  type Database,
  damageError,
  DatabaseSync,
  inTransaction,
  isDamaged,
  isFull,
  isLocked,
  pragma,
} from "./sqlite.ts";

interface DatabaseOptions {
  /** Absolute; `:memory:` for no file. Its directory is created with mode 0700, and only we may be able to write to it. */
  readonly path: string;
  /** The setting that chooses another path, for messages. */
  readonly setting: string;
  /** SQL scripts in order; those already applied are skipped. Their number is the file's version. */
  readonly migrations: readonly string[];
  readonly nowUnixMs: () => number;
  /** Called when the file was unreadable and a new one was created. */
  readonly onMovedAside: (movedTo: string, error: unknown) => void;
}

/** How long a statement waits for another process's lock before it fails. */
export const BUSY_TIMEOUT_MS = 2_000;

/**
 * @throws AppError CONFIGURATION_INVALID if the path is not usable, RESOURCE_LIMIT if it is locked or the disk is full,
 * INCONSISTENT_STATE if a newer version wrote it.
 */
export function openDatabase(options: DatabaseOptions): Database {
  try {
    return open(options);
  } catch (error) {
    if (!isDamaged(error)) throw explainDatabaseError(options.path, error);
    const movedTo = moveAside(options.path, options.nowUnixMs());
    options.onMovedAside(movedTo, error);
    try {
      return open(options);
    } catch (again) {
      throw explainDatabaseError(options.path, again);
    }
  }
}

/**
 * Before anything is started: a newer tmuxwire must not have written the file. Reads its header only (the SQLite file format,
 * "User Version Number"). What cannot be read is left to `openDatabase`. @throws AppError INCONSISTENT_STATE
 */
export function requireKnownVersion(path: string, { length: known }: DatabaseOptions["migrations"]): void {
  const header = Buffer.alloc(USER_VERSION_AT + 4);
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    if (readSync(file, header) < header.length) return;
  } catch {
    return;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return;
  const version = header.readUInt32BE(USER_VERSION_AT);
  if (version > known) throw writtenByNewer(path, version, known);
}

const MAGIC = Buffer.from("SQLite format 3\0");
const USER_VERSION_AT = 60;

/** The file's state, without changing its content. @throws AppError as `openDatabase` */
export function examineDatabase(path: string, setting: string): "absent" | "damaged" | "usable" {
  if (!existsSync(path)) return "absent";
  try {
    preparePlace(path, setting);
    const existing = pathToFileURL(path);
    existing.searchParams.set("mode", "rw");
    const database = new DatabaseSync(existing, { timeout: BUSY_TIMEOUT_MS });
    try {
      if (pragma(database, "quick_check") !== "ok") return "damaged";
      database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return "usable";
    } finally {
      database.close();
    }
  } catch (error) {
    if (isDamaged(error)) return "damaged";
    throw explainDatabaseError(path, error);
  }
}

/** Makes its directory if it is missing. @throws AppError CONFIGURATION_INVALID, RESOURCE_LIMIT: as `openDatabase` */
export function preparePlace(path: string, setting: string): void {
  if (path === ":memory:") return;
  try {
    makeOwnDirectory(dirname(path), setting);
    for (const suffix of OF_A_DATABASE) requireOwnFile(path + suffix, setting);
  } catch (error) {
    throw explainDatabaseError(path, error);
  }
}

/** The file, SQLite's files beside it, and our lock. */
const OF_A_DATABASE = ["", "-wal", "-shm", "-journal", ".lock", ".lock-journal"] as const;

function open({ path, setting, migrations }: DatabaseOptions): Database {
  preparePlace(path, setting);
  requireKnownVersion(path, migrations);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    if (path !== ":memory:") chmodSync(path, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    if (pragma(database, "quick_check") !== "ok") throw damageError("quick_check failed");
    const version = versionOf(database);
    if (version > migrations.length) throw writtenByNewer(path, version, migrations.length);
    if (version > 0 && version < migrations.length && path !== ":memory:")
      keepCopy(database, `${path}.version-${version}`);
    inTransaction(database, () => migrate(database, migrations));
    // Into the file's header at once, where `requireKnownVersion` reads it.
    if (version < migrations.length) database.exec("PRAGMA wal_checkpoint(PASSIVE)");
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

const versionOf = (database: Database): number => Number(pragma(database, "user_version"));

/** As it was before the migration, for whoever goes back to the older version. One that an earlier attempt left is replaced. */
function keepCopy(database: Database, copy: string): void {
  rmSync(copy, { force: true });
  database.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`);
  chmodSync(copy, 0o600);
}

function migrate(database: Database, migrations: readonly string[]): void {
  const applied = versionOf(database);
  for (const sql of migrations.slice(applied)) database.exec(sql);
  if (applied < migrations.length) database.exec(`PRAGMA user_version = ${migrations.length}`);
}

/** Also moves its log and index, which would otherwise be applied to the new file. */
function moveAside(path: string, nowUnixMs: number): string {
  const movedTo = `${path}.damaged-${nowUnixMs}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, movedTo + suffix);
  }
  return movedTo;
}

/** An error that says what to do. */
export function explainDatabaseError(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const options = { cause: error };
  if (isLocked(error)) {
    return new AppError("RESOURCE_LIMIT", `another process has locked ${path}; end it and try again`, options);
  }
  if (isDiskFull(path, error)) {
    return new AppError("RESOURCE_LIMIT", `the disk that holds ${path} is full; free some space and try again`, {
      ...options,
      details: { reason: "disk_full" },
    });
  }
  const reason = messageOf(error);
  return new AppError("CONFIGURATION_INVALID", `cannot use the database ${path}: ${reason}`, options);
}

/** Out of space, inodes or quota. SQLite's error depends on which of its files could not grow. */
export function isDiskFull(path: string, error: unknown): boolean {
  if (isFull(error)) return true;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (isNoRoom(code)) return true;
  return cannotWrite(error) && path !== ":memory:" && hasNoRoom(dirname(path));
}

/** With less free space, a page of its log does not fit. */
const ROOM_BYTES = 65_536;

function hasNoRoom(directory: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(directory);
    // File systems without a fixed number of inodes report 0 of 0.
    return bavail * bsize < ROOM_BYTES || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
