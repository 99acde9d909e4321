/**
 * What was delivered under which key, so that a repeated request types nothing. A row is written before the first
 * byte and completed after the last, in SQLite: a delivery that a killed daemon had begun counts as undecided. Texts are not
 * kept, only a hash of the request.
 */
import { explainDatabaseError, openDatabase } from "../ops/sql/database.ts";
import { closeDatabase, type Database } from "../ops/sql/sqlite.ts";
import type { Kept, OnceKey, OnceStore } from "../ops/once.ts";
import { AppError, type ErrorCode, isCutShort, shuttingDown } from "../../protocol/errors.ts";
import type { SubmitResult } from "./delivery.ts";
import { DELIVERY_KEPT_MS, MAX_DELIVERIES_KEPT } from "./deliveryLimits.ts";

export type StoredOutcome =
  | { readonly kind: "result"; readonly result: SubmitResult }
  | {
      readonly kind: "error";
      readonly code: ErrorCode;
      readonly message: string;
      readonly details?: Readonly<Record<string, unknown>> | undefined;
    };

/** Of a delivery that was begun by a daemon that has ended since. */
const UNDECIDED: StoredOutcome = {
  kind: "result",
  result: {
    outcome: "indeterminate",
    position: undefined,
    latencyMs: 0,
    firstByteMs: undefined,
    enterMs: undefined,
    enterPresses: 0,
  },
};

interface DeliveryStoreOptions {
  /** Absolute; `:memory:` for one that does not outlive us. */
  readonly path: string;
  readonly nowUnixMs: () => number;
  readonly onMovedAside?: ((movedTo: string, error: unknown) => void) | undefined;
  readonly maxRows?: number | undefined;
}

export const DELIVERY_MIGRATIONS = [
  `CREATE TABLE deliveries (
    scope TEXT NOT NULL,
    pane TEXT NOT NULL,
    key TEXT NOT NULL,
    request_hash TEXT NOT NULL,
    begun_unix_ms INTEGER NOT NULL,
    outcome TEXT,
    PRIMARY KEY (scope, pane, key)
  ) WITHOUT ROWID;
  CREATE INDEX deliveries_by_age ON deliveries (begun_unix_ms);`,
];

/** Old rows are swept at the first and at every so many deliveries. */
const SWEEP_EVERY = 100;

interface Row {
  readonly request_hash: string;
  readonly outcome: string | null;
}

/**
 * By tmux server (the same pane id on another server is another pane), pane and idempotency key. The file is opened when
 * it is first needed: a daemon that delivers nothing makes none.
 */
export class DeliveryStore implements OnceStore<StoredOutcome> {
  readonly #options: DeliveryStoreOptions;
  #opened: { readonly database: Database; readonly statements: Statements } | undefined;
  #isClosed = false;
  #begun = 0;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
  }

  find(key: OnceKey): Kept<StoredOutcome> | undefined {
    const since = this.#options.nowUnixMs() - DELIVERY_KEPT_MS;
    const row = this.#with(({ find }) => find.get(...key, since) as Row | undefined);
    if (row === undefined) return undefined;
    return { request: row.request_hash, result: row.outcome === null ? UNDECIDED : decode(row.outcome) };
  }

  /** Before the first byte. @throws AppError RESOURCE_LIMIT: then nothing may be typed */
  begin(key: OnceKey, requestHash: string): void {
    const nowUnixMs = this.#options.nowUnixMs();
    this.#with((statements) => {
      if (this.#begun++ % SWEEP_EVERY === 0) {
        statements.expire.run(nowUnixMs - DELIVERY_KEPT_MS);
        statements.trim.run(this.#options.maxRows ?? MAX_DELIVERIES_KEPT);
      }
      return statements.begin.run(...key, requestHash, nowUnixMs);
    });
  }

  /** @throws AppError RESOURCE_LIMIT: it stays begun */
  complete(key: OnceKey, _requestHash: string, outcome: StoredOutcome): void {
    this.#with(({ complete }) => complete.run(JSON.stringify(outcome), ...key));
  }

  /** Nothing was typed after all. */
  forget(key: OnceKey): void {
    this.#with((statements) => statements.forget.run(...key));
  }

  close(): void {
    this.#isClosed = true;
    if (this.#opened !== undefined) closeDatabase(this.#opened.database);
    this.#opened = undefined;
  }

  /** A path that cannot be used must look neither like a program that refused nor like a daemon that was misconfigured. */
  #with<Result>(use: (statements: Statements) => Result): Result {
    try {
      return use(this.#statements());
    } catch (error) {
      if (isCutShort(error)) throw error;
      const { message, details } = explainDatabaseError(this.#options.path, error);
      const reason = details?.["reason"] ?? "record_failed";
      throw new AppError("RESOURCE_LIMIT", `nothing was recorded, so nothing is typed: ${message}`, {
        details: { reason },
        cause: error,
      });
    }
  }

  #statements(): Statements {
    if (this.#isClosed) throw shuttingDown();
    const { path, nowUnixMs, onMovedAside = () => undefined } = this.#options;
    if (this.#opened === undefined) {
      const database = openDatabase({
        path,
        setting: "XDG_STATE_HOME",
        migrations: DELIVERY_MIGRATIONS,
        nowUnixMs,
        onMovedAside,
      });
      this.#opened = { database, statements: prepare(database) };
    }
    return this.#opened.statements;
  }
}

type Statements = ReturnType<typeof prepare>;

const prepare = (database: Database) => ({
  find: database.prepare(
    "SELECT request_hash, outcome FROM deliveries WHERE scope = ? AND pane = ? AND key = ? AND begun_unix_ms >= ?",
  ),
  begin: database.prepare(
    `INSERT INTO deliveries (scope, pane, key, request_hash, begun_unix_ms) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET request_hash = excluded.request_hash, begun_unix_ms = excluded.begun_unix_ms, outcome = NULL`,
  ),
  complete: database.prepare("UPDATE deliveries SET outcome = ? WHERE scope = ? AND pane = ? AND key = ?"),
  forget: database.prepare("DELETE FROM deliveries WHERE scope = ? AND pane = ? AND key = ?"),
  expire: database.prepare("DELETE FROM deliveries WHERE begun_unix_ms < ?"),
  trim: database.prepare(
    `DELETE FROM deliveries WHERE begun_unix_ms <
       (SELECT begun_unix_ms FROM deliveries ORDER BY begun_unix_ms DESC LIMIT 1 OFFSET ?)`,
  ),
});

const decode = (text: string): StoredOutcome => JSON.parse(text) as StoredOutcome;
