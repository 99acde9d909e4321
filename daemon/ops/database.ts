/**
 * A SQLite file of ours: WAL, a bounded wait for a lock, migrations by `user_version`. A file that is not a database is
 * moved aside, never deleted, and the caller gets its new name.
 */
import { chmodSync, existsSync, renameSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError } from "../../protocol/errors.ts";
import { makeOwnDirectory, requireOwnFile } from "./privateFiles.ts";
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
  /** Absolute; `:memory:` for none. Its directory is created with mode 0700, and must be ours alone to write. */
  readonly path: string;
  /** That chooses another path, for messages. */
  readonly setting: string;
  /** SQL scripts in order; those applied before are skipped. Additive only: an older daemon may open the file again. */
  readonly migrations: readonly string[];
  readonly nowUnixMs: () => number;
  /** Called when the file was unreadable and a new one was created. */
  readonly onMovedAside: (movedTo: string, error: unknown) => void;
}

/** A statement that meets another process's lock waits this long before it fails. */
const BUSY_TIMEOUT_MS = 2_000;

/** @throws AppError CONFIGURATION_INVALID when the place cannot be used, RESOURCE_LIMIT when it is locked or the disk is full. */
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

/** What a start would find; the content stays unchanged. @throws AppError as `openDatabase` */
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

/** Makes its directory when it is missing. @throws AppError CONFIGURATION_INVALID, RESOURCE_LIMIT: as `openDatabase` */
export function preparePlace(path: string, setting: string): void {
  if (path === ":memory:") return;
  try {
    makeOwnDirectory(dirname(path), setting);
    for (const suffix of OF_A_DATABASE) requireOwnFile(path + suffix, setting);
  } catch (error) {
    throw explainDatabaseError(path, error);
  }
}

/** The file, what SQLite keeps beside it, and our lock. */
const OF_A_DATABASE = ["", "-wal", "-shm", "-journal", ".lock", ".lock-journal"] as const;

function open({ path, setting, migrations }: DatabaseOptions): Database {
  preparePlace(path, setting);
  const database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    if (path !== ":memory:") chmodSync(path, 0o600);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON");
    if (pragma(database, "quick_check") !== "ok") throw damageError("quick_check failed");
    inTransaction(database, () => migrate(database, migrations));
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function migrate(database: Database, migrations: readonly string[]): void {
  const applied = Number(pragma(database, "user_version"));
  for (const sql of migrations.slice(applied)) database.exec(sql);
  if (applied < migrations.length) database.exec(`PRAGMA user_version = ${migrations.length}`);
}

/** With its log and index, which belong to the old file and would be applied to the new one. */
function moveAside(path: string, nowUnixMs: number): string {
  const movedTo = `${path}.damaged-${nowUnixMs}`;
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(path + suffix)) renameSync(path + suffix, movedTo + suffix);
  }
  return movedTo;
}

/** What a person can do about it. */
export function explainDatabaseError(path: string, error: unknown): AppError {
  if (error instanceof AppError) return error;
  const options = { cause: error };
  if (isLocked(error)) {
    return new AppError("RESOURCE_LIMIT", `${path} is locked by another process; end it and try again`, options);
  }
  if (isDiskFull(path, error)) {
    return new AppError("RESOURCE_LIMIT", `the disk that holds ${path} is full; make room on it and try again`, {
      ...options,
      details: { reason: "disk_full" },
    });
  }
  const reason = error instanceof Error ? error.message : String(error);
  return new AppError("CONFIGURATION_INVALID", `cannot use the database ${path}: ${reason}`, options);
}

/** Space, files or quota. SQLite's error depends on which of its files could not grow. */
export function isDiskFull(path: string, error: unknown): boolean {
  if (isFull(error)) return true;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT") return true;
  return cannotWrite(error) && path !== ":memory:" && hasNoRoom(dirname(path));
}

/** Less is too little for a page of its log. */
const ROOM_BYTES = 65_536;

function hasNoRoom(directory: string): boolean {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(directory);
    // Some file systems have no fixed number of files and say 0 of 0.
    return bavail * bsize < ROOM_BYTES || (files > 0 && ffree === 0);
  } catch {
    return false;
  }
}
