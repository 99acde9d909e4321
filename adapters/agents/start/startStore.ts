/** Starts by idempotency key, in the agents' database: which were begun, and what became of them. */
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import type { Kept, OnceKey, OnceStore } from "../../../daemon/ops/once.ts";
import { fieldsOf } from "../../../protocol/text/jsonObject.ts";

const MAX_STARTS = 1_000;

export class StartStore<Result> implements OnceStore<Result> {
  readonly #database: () => Database;
  readonly #nowUnixMs: () => number;

  constructor(database: () => Database, nowUnixMs: () => number) {
    this.#database = database;
    this.#nowUnixMs = nowUnixMs;
  }

  /** One that was begun and not completed is not found: whoever repeats it looks for what it has made. */
  find(key: OnceKey): Kept<Result> | undefined {
    const { request, result } = this.#row(key);
    if (typeof request !== "string" || typeof result !== "string") return undefined;
    return { request, result: JSON.parse(result) as Result };
  }

  /** The request that was begun under this key, by this daemon or an earlier one. */
  begun(key: OnceKey): string | undefined {
    const { request } = this.#row(key);
    return typeof request === "string" ? request : undefined;
  }

  begin(key: OnceKey, request: string): void {
    const database = this.#database();
    database
      .prepare("INSERT OR REPLACE INTO starts (key, request, begun_unix_ms) VALUES (?, ?, ?)")
      .run(JSON.stringify(key), request, this.#nowUnixMs());
    database
      .prepare("DELETE FROM starts WHERE key IN (SELECT key FROM starts ORDER BY begun_unix_ms DESC LIMIT -1 OFFSET ?)")
      .run(MAX_STARTS);
  }

  complete(key: OnceKey, _request: string, result: Result): void {
    this.#database()
      .prepare("UPDATE starts SET result = ? WHERE key = ?")
      .run(JSON.stringify(result), JSON.stringify(key));
  }

  forget(key: OnceKey): void {
    this.#database().prepare("DELETE FROM starts WHERE key = ?").run(JSON.stringify(key));
  }

  #row(key: OnceKey): Readonly<Record<string, unknown>> {
    const row: unknown = this.#database()
      .prepare("SELECT request, result FROM starts WHERE key = ?")
      .get(JSON.stringify(key));
    return fieldsOf(row) ?? {};
  }
}
