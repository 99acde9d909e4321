/**
 * What was done under which key, in a table: a row is begun before the first effect and completed after the last. Rows that
 * are too old, or too many, are removed now and then, the oldest first.
 */
import type { Kept, OnceKey, OnceStore } from "../once.ts";
import { jsonOf, type Prepare, type Row, Table } from "./table.ts";

interface OnceRow<Result> {
  readonly request: string;
  /** Undefined: nobody knows its end. */
  readonly result: Result | undefined;
  readonly begunUnixMs: number;
}

interface OnceTableOptions<Result> {
  readonly prepare: Prepare;
  readonly name: string;
  /** The columns of a key's parts. */
  readonly key: readonly string[];
  readonly columns?: Readonly<Partial<Record<keyof OnceRow<Result>, string>>> | undefined;
  /** Of what was begun and whose end nobody knows; undefined: it is not found. */
  readonly unfinished?: Result | undefined;
  /** Undefined: for as long as there is room. */
  readonly keptMs?: number | undefined;
  readonly maxRows: number;
  /** Absent: at once. What was begun is on disk when it returns. */
  readonly write?: ((run: () => void) => void) | undefined;
  readonly nowUnixMs: () => number;
}

/** Rows are removed at the first and at every so many that are begun. */
const SWEEP_EVERY = 100;

export class OnceTable<Result> implements OnceStore<Result> {
  readonly #options: OnceTableOptions<Result>;
  readonly #table: Table<OnceRow<Result>>;
  #begins = 0;

  constructor(options: OnceTableOptions<Result>) {
    const { prepare, name, key, columns } = options;
    this.#options = options;
    this.#table = new Table<OnceRow<Result>>({ prepare, name, key, columns, decode: { result: jsonOf } });
  }

  find(key: OnceKey): Kept<Result> | undefined {
    const { request, result = this.#options.unfinished } = this.begun(key) ?? {};
    return request === undefined || result === undefined ? undefined : { request, result };
  }

  /** By this process or an earlier one, completed or not. */
  begun(key: OnceKey): OnceRow<Result> | undefined {
    const { key: columns, keptMs = Infinity, nowUnixMs } = this.#options;
    const row = this.#table.first(`WHERE ${columns.map((column) => `${column} = ?`).join(" AND ")}`, ...key);
    return row !== undefined && row.begunUnixMs >= nowUnixMs() - keptMs ? row : undefined;
  }

  begin(key: OnceKey, request: string): void {
    const { nowUnixMs } = this.#options;
    const row = {
      ...this.#cellsOf(key),
      ...this.#table.rowOf({ request, result: undefined, begunUnixMs: nowUnixMs() }),
    };
    const isDue = this.#begins++ % SWEEP_EVERY === 0;
    this.#write(() => {
      if (isDue) this.#sweep();
      this.#table.save(row);
    });
  }

  complete(key: OnceKey, _request: string, result: Result): void {
    const row = { ...this.#cellsOf(key), ...this.#table.rowOf({ result }) };
    this.#write(() => this.#table.update(row));
  }

  forget(key: OnceKey): void {
    this.#write(() => this.#table.remove(...key));
  }

  #write(run: () => void): void {
    const { write = (now) => now() } = this.#options;
    write(run);
  }

  #sweep(): void {
    const { prepare, name, columns, keptMs = Infinity, maxRows, nowUnixMs } = this.#options;
    const age = columns?.begunUnixMs ?? "begun_unix_ms";
    prepare(`DELETE FROM ${name} WHERE ${age} < ?`).run(nowUnixMs() - keptMs);
    this.#table.trim(age, maxRows);
  }

  #cellsOf(key: OnceKey): Row {
    return Object.fromEntries(this.#options.key.map((column, at) => [column, key[at] ?? null]));
  }
}
