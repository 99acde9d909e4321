/** Starts by idempotency key, in the agents' database: which were begun, and what became of them. */
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import { jsonOf, Table } from "../../../daemon/ops/sql/table.ts";
import type { Kept, OnceKey, OnceStore } from "../../../daemon/ops/once.ts";

const MAX_STARTS = 1_000;

interface Start<Result> {
  readonly key: string;
  readonly request: string;
  readonly result: Result | undefined;
  readonly begunUnixMs: number;
}

export class StartStore<Result extends object> implements OnceStore<Result> {
  readonly #table: Table<Start<Result>>;
  readonly #nowUnixMs: () => number;

  constructor(database: () => Database, nowUnixMs: () => number) {
    this.#table = new Table<Start<Result>>({
      prepare: (sql) => database().prepare(sql),
      name: "starts",
      key: ["key"],
      decode: { result: jsonOf },
    });
    this.#nowUnixMs = nowUnixMs;
  }

  /** One that was begun and not completed is not found: whoever repeats it looks for what it has made. */
  find(key: OnceKey): Kept<Result> | undefined {
    const { request, result } = this.#start(key) ?? {};
    return request === undefined || result === undefined ? undefined : { request, result };
  }

  /** The request that was begun under this key, by this daemon or an earlier one. */
  begun(key: OnceKey): string | undefined {
    return this.#start(key)?.request;
  }

  begin(key: OnceKey, request: string): void {
    const start = { key: JSON.stringify(key), request, result: undefined, begunUnixMs: this.#nowUnixMs() };
    this.#table.save(this.#table.rowOf(start));
    this.#table.trim("begun_unix_ms", MAX_STARTS);
  }

  complete(key: OnceKey, _request: string, result: Result): void {
    this.#table.update(this.#table.rowOf({ key: JSON.stringify(key), result }));
  }

  forget(key: OnceKey): void {
    this.#table.remove(JSON.stringify(key));
  }

  #start(key: OnceKey): Start<Result> | undefined {
    return this.#table.first("WHERE key = ?", JSON.stringify(key));
  }
}
