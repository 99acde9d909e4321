/**
 * What was delivered under which key, so that a repeated request types nothing. A row is written before the first
 * byte and completed after the last, in SQLite: a delivery that a killed daemon had begun counts as undecided. Texts are not
 * kept, only a hash of the request.
 */
import { explainDatabaseError, openDatabase } from "../ops/sql/database.ts";
import { OnceTable } from "../ops/sql/onceTable.ts";
import { closeDatabase, type Database } from "../ops/sql/sqlite.ts";
import { preparing } from "../ops/sql/table.ts";
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

/**
 * By tmux server (the same pane id on another server is another pane), pane and idempotency key. The file is opened when
 * it is first needed: a daemon that delivers nothing makes none.
 */
export class DeliveryStore implements OnceStore<StoredOutcome> {
  readonly #options: DeliveryStoreOptions;
  #opened: { readonly database: Database; readonly rows: OnceTable<StoredOutcome> } | undefined;
  #isClosed = false;

  constructor(options: DeliveryStoreOptions) {
    this.#options = options;
  }

  find(key: OnceKey): Kept<StoredOutcome> | undefined {
    return this.#with((rows) => rows.find(key));
  }

  /** Before the first byte. @throws AppError RESOURCE_LIMIT: then nothing may be typed */
  begin(key: OnceKey, requestHash: string): void {
    this.#with((rows) => rows.begin(key, requestHash));
  }

  /** @throws AppError RESOURCE_LIMIT: it stays begun */
  complete(key: OnceKey, requestHash: string, outcome: StoredOutcome): void {
    this.#with((rows) => rows.complete(key, requestHash, outcome));
  }

  /** Nothing was typed after all. */
  forget(key: OnceKey): void {
    this.#with((rows) => rows.forget(key));
  }

  close(): void {
    this.#isClosed = true;
    if (this.#opened !== undefined) closeDatabase(this.#opened.database);
    this.#opened = undefined;
  }

  /** A path that cannot be used must look neither like a program that refused nor like a daemon that was misconfigured. */
  #with<Result>(use: (rows: OnceTable<StoredOutcome>) => Result): Result {
    try {
      return use(this.#rows());
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

  #rows(): OnceTable<StoredOutcome> {
    if (this.#isClosed) throw shuttingDown();
    const { path, nowUnixMs, onMovedAside = () => undefined, maxRows = MAX_DELIVERIES_KEPT } = this.#options;
    if (this.#opened === undefined) {
      const database = openDatabase({
        path,
        setting: "XDG_STATE_HOME",
        migrations: DELIVERY_MIGRATIONS,
        nowUnixMs,
        onMovedAside,
      });
      const rows = new OnceTable<StoredOutcome>({
        prepare: preparing(database),
        name: "deliveries",
        key: ["scope", "pane", "key"],
        columns: { request: "request_hash", result: "outcome" },
        unfinished: UNDECIDED,
        keptMs: DELIVERY_KEPT_MS,
        maxRows,
        nowUnixMs,
      });
      this.#opened = { database, rows };
    }
    return this.#opened.rows;
  }
}
