/**
 * Writes in the order in which they were made, each turn's as one transaction at its end. While another process holds the
 * database, or its disk takes nothing, they stay in memory and are tried again: what a client was told is not lost
 * because another program reads the file, and the main thread never waits for a lock.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { isDiskFull } from "./database.ts";
import type { Log } from "./log.ts";
import { type Database, inTransaction, isLocked } from "./sqlite.ts";

/** Writes kept in memory while the database is locked; past them hooks are refused too. */
const MAX_PENDING_WRITES = 10_000;
/** A statement that meets a lock waits this long on the main thread, then again later. */
const BUSY_WAIT_MS = 5;
/** The last try, at the end of a stop, which as a whole has less than two seconds. */
const LAST_BUSY_WAIT_MS = 500;
const RETRY_WRITE_MIN_MS = 50;
const RETRY_WRITE_MAX_MS = 1_000;
/** Writes before a checkpoint of the WAL, and its delay: a few hundred kilobytes of WAL. */
const CHECKPOINT_WRITES = 1_000;
const CHECKPOINT_DELAY_MS = 2_000;

interface WriteBehindOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}

export class WriteBehind {
  readonly #options: WriteBehindOptions;
  #pending: (() => void)[] = [];
  #isQueued = false;
  #failure: unknown;
  #retryMs = 0;
  #timer: Timer | undefined;
  #unchecked = 0;
  #checkpoint: Timer | undefined;
  #isClosed = false;

  constructor(options: WriteBehindOptions) {
    this.#options = options;
    options.database.exec(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}`);
    // A checkpoint waits for the disk: not in the turn in which an agent waits for us.
    options.database.exec("PRAGMA wal_autocheckpoint = 0");
  }

  /** Runs with the other writes of this turn. @throws AppError RESOURCE_LIMIT past the bound, before anything is kept */
  add(write: () => void): void {
    if (this.#isClosed) {
      this.#options.log.error("dashboard.database.lost", { writes: 1, error: new Error("made after the end") });
      return;
    }
    if (this.#pending.length >= MAX_PENDING_WRITES) throw this.#refusal();
    this.#pending.push(write);
    if (this.#isQueued || this.#timer !== undefined) return;
    this.#isQueued = true;
    queueMicrotask(() => {
      this.#isQueued = false;
      if (this.#pending.length > 0) this.flush();
    });
  }

  /** For work that must leave a record. @throws AppError RESOURCE_LIMIT */
  requireWritable(): void {
    if (this.#failure === undefined) {
      try {
        this.#options.database.exec("BEGIN IMMEDIATE; ROLLBACK");
        return;
      } catch (error) {
        this.#failed(error);
      }
    } else this.flush();
    if (this.#failure !== undefined) throw this.#refusal();
  }

  /** Writes what is waiting, if it can. */
  flush(): void {
    const writes = this.#pending;
    try {
      inTransaction(this.#options.database, () => {
        for (const write of writes) write();
      });
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#pending = [];
    if (this.#failure !== undefined) this.#options.log.info("dashboard.database.back", { writes: writes.length });
    this.#failure = undefined;
    this.#retryMs = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unchecked += writes.length;
    if (this.#unchecked >= CHECKPOINT_WRITES) this.#checkpointLater();
  }

  /** Tries once more, with more patience; later writes are logged as lost. Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#options.database.exec(`PRAGMA busy_timeout = ${LAST_BUSY_WAIT_MS}`);
    this.flush();
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#checkpoint?.cancel();
    if (this.#pending.length > 0) {
      this.#options.log.error("dashboard.database.lost", { writes: this.#pending.length, error: this.#failure });
      this.#pending = [];
    }
  }

  #checkpointLater(): void {
    const { clock, database, log } = this.#options;
    this.#checkpoint ??= clock.callAt(clock.nowMs() + CHECKPOINT_DELAY_MS, () => {
      this.#checkpoint = undefined;
      this.#unchecked = 0;
      try {
        database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      } catch (error) {
        log.debug("dashboard.database.unchecked", { error });
      }
    });
  }

  #failed(error: unknown): void {
    if (this.#failure === undefined) {
      // Expected now and then, and made good: without a stack, which would look like a crash.
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.log.warn("dashboard.database.behind", { reason });
    }
    this.#failure = error;
    this.#retryMs = Math.min(Math.max(this.#retryMs * 2, RETRY_WRITE_MIN_MS), RETRY_WRITE_MAX_MS);
    const { clock } = this.#options;
    this.#timer?.cancel();
    this.#timer = clock.callAt(clock.nowMs() + this.#retryMs, () => {
      this.#timer = undefined;
      this.flush();
    });
  }

  #refusal(): AppError {
    return new AppError(
      "RESOURCE_LIMIT",
      isLocked(this.#failure)
        ? "The dashboard's database is locked by another program; nothing was done. Close that program and try again."
        : isDiskFull(this.#options.database.location() ?? ":memory:", this.#failure)
          ? "The disk that holds the dashboard's database is full; nothing was done. Make room on it and try again."
          : "The dashboard's database cannot be written; nothing was done. Look at the daemon's log, then try again.",
      { details: { reason: isLocked(this.#failure) ? "database_locked" : "database_failed" }, cause: this.#failure },
    );
  }
}
