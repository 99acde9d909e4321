/**
 * Writes in the order in which they were made, each turn's as one transaction at its end. While another process holds the
 * database, or its disk takes nothing, they stay in memory, up to a bound in bytes, and are tried again: what a client was
 * told is not lost because another program reads the file, and the main thread never waits for a lock.
 */
import { AppError, messageOf } from "../../../protocol/errors.ts";
import type { Clock, Timer } from "../../time/clock.ts";
import { BUSY_TIMEOUT_MS, isDiskFull } from "./database.ts";
import type { Log } from "../log.ts";
import { type Database, inTransaction, isLocked } from "./sqlite.ts";

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
  /** Whose it is, for messages and in the log's events. */
  readonly owner: Lowercase<string>;
  /**
   * Others write with the same connection: their patience for a lock stays, and SQLite makes the checkpoints. Otherwise both
   * are ours: a checkpoint waits for the disk, so none is made in the turn in which an agent waits for us.
   */
  readonly isShared: boolean;
  /** Of the writes that wait, as `add` is told. */
  readonly maxPendingBytes: number;
  /** What becomes of a write past the bound: it is refused, or the oldest are lost for it, which the log tells. */
  readonly whenFull: "refuse" | "loseOldest";
  /** Performs the writes of one transaction; throws what they throw. For what has to follow their end in memory. */
  readonly around?: ((write: () => void) => void) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface PendingWrite {
  readonly run: () => void;
  readonly bytes: number;
}

export class WriteBehind {
  readonly #options: WriteBehindOptions;
  #pending: PendingWrite[] = [];
  #pendingBytes = 0;
  /** Of the bound, since the database takes none. */
  #lost = 0;
  #isQueued = false;
  #failure: unknown;
  #retryMs = 0;
  #timer: Timer | undefined;
  #unchecked = 0;
  #checkpoint: Timer | undefined;
  #isClosed = false;
  #patienceMs = BUSY_WAIT_MS;

  constructor(options: WriteBehindOptions) {
    this.#options = options;
    if (options.isShared) return;
    options.database.exec(`PRAGMA busy_timeout = ${BUSY_WAIT_MS}; PRAGMA wal_autocheckpoint = 0`);
  }

  /**
   * Runs with the other writes of this turn.
   * @param bytes of what it keeps in memory until then
   * @throws AppError RESOURCE_LIMIT past the bound, before anything is kept, if that is refused
   */
  add(run: () => void, bytes: number): void {
    const { maxPendingBytes, whenFull } = this.#options;
    if (this.#isClosed) {
      this.#lose(1, new Error("made after the end"));
      return;
    }
    const isFull = (): boolean => this.#pendingBytes + bytes > maxPendingBytes;
    if (isFull() && this.#failure === undefined) this.flush();
    if (isFull() && whenFull === "refuse") throw this.#refusal();
    while (isFull() && this.#pending.length > 0) {
      this.#pendingBytes -= this.#pending.shift()!.bytes;
      this.#lost += 1;
    }
    this.#pending.push({ run, bytes });
    this.#pendingBytes += bytes;
    if (this.#isQueued || this.#timer !== undefined) return;
    this.#isQueued = true;
    queueMicrotask(() => {
      this.#isQueued = false;
      this.flush();
    });
  }

  /** For work that must leave a record. @throws AppError RESOURCE_LIMIT */
  requireWritable(): void {
    if (this.#failure === undefined) this.#attempt(() => this.#options.database.exec("BEGIN IMMEDIATE; ROLLBACK"));
    else this.flush();
    if (this.#failure !== undefined) throw this.#refusal();
  }

  /** Writes what is waiting, if it can. */
  flush(): void {
    const writes = this.#pending;
    if (writes.length === 0 && this.#failure === undefined) return;
    const { database, around = (write) => write(), isShared, log, owner } = this.#options;
    const isWritten = this.#attempt(() =>
      around(() =>
        inTransaction(database, () => {
          for (const { run } of writes) run();
        }),
      ),
    );
    if (!isWritten) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (this.#failure !== undefined) log.info(`${owner}.database.back`, { writes: writes.length });
    if (this.#lost > 0) this.#lose(this.#lost, this.#failure);
    this.#lost = 0;
    this.#failure = undefined;
    this.#retryMs = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unchecked += writes.length;
    if (!isShared && this.#unchecked >= CHECKPOINT_WRITES) this.#checkpointLater();
  }

  /** Tries once more, with more patience; later writes are logged as lost. Safe to call twice. */
  close(): void {
    if (this.#isClosed) return;
    this.#patienceMs = LAST_BUSY_WAIT_MS;
    this.flush();
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#checkpoint?.cancel();
    if (this.#pending.length > 0) this.#lose(this.#lost + this.#pending.length, this.#failure);
    this.#pending = [];
  }

  /** Returns whether it was done; otherwise it is tried again. */
  #attempt(work: () => void): boolean {
    const { database, isShared } = this.#options;
    try {
      database.exec(`PRAGMA busy_timeout = ${this.#patienceMs}`);
      work();
      return true;
    } catch (error) {
      this.#failed(error);
      return false;
    } finally {
      if (isShared && database.isOpen) database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    }
  }

  #checkpointLater(): void {
    const { clock, database, log, owner } = this.#options;
    this.#checkpoint ??= clock.callAt(clock.nowMs() + CHECKPOINT_DELAY_MS, () => {
      this.#checkpoint = undefined;
      this.#unchecked = 0;
      try {
        database.exec("PRAGMA wal_checkpoint(PASSIVE)");
      } catch (error) {
        log.debug(`${owner}.database.unchecked`, { error });
      }
    });
  }

  #failed(error: unknown): void {
    const { clock, log, owner } = this.#options;
    if (this.#failure === undefined) {
      // Expected now and then, and made good: without a stack, which would look like a crash.
      const reason = messageOf(error);
      log.warn(`${owner}.database.behind`, { reason });
    }
    this.#failure = error;
    this.#retryMs = Math.min(Math.max(this.#retryMs * 2, RETRY_WRITE_MIN_MS), RETRY_WRITE_MAX_MS);
    this.#timer?.cancel();
    this.#timer = clock.callAt(clock.nowMs() + this.#retryMs, () => {
      this.#timer = undefined;
      this.flush();
    });
  }

  #lose(writes: number, error: unknown): void {
    this.#options.log.error(`${this.#options.owner}.database.lost`, { writes, error });
  }

  #refusal(): AppError {
    const { database, owner } = this.#options;
    return new AppError(
      "RESOURCE_LIMIT",
      isLocked(this.#failure)
        ? `The ${owner}'s database is locked by another program; nothing was done. Close that program and try again.`
        : isDiskFull(database.location() ?? ":memory:", this.#failure)
          ? `The disk that holds the ${owner}'s database is full; nothing was done. Make room on it and try again.`
          : `The ${owner}'s database cannot be written; nothing was done. Look at the daemon's log, then try again.`,
      { details: { reason: isLocked(this.#failure) ? "database_locked" : "database_failed" }, cause: this.#failure },
    );
  }
}
