/**
 * A table whose rows are records: a member is in the column of its name (`sessionUuid` in `session_uuid`), undefined is NULL,
 * a truth value 1 or 0, an object JSON.
 */
import type { Database, Statement } from "./sqlite.ts";

/** Prepares a statement, each one once. */
export type Prepare = (sql: string) => Statement;

export function preparing(database: Database): Prepare {
  const statements = new Map<string, Statement>();
  return (sql) => {
    let statement = statements.get(sql);
    if (statement === undefined) statements.set(sql, (statement = database.prepare(sql)));
    return statement;
  };
}

type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

interface TableOptions<Kept> {
  readonly prepare: Prepare;
  readonly name: string;
  /** Its columns that are unique together, by which a record is found again. */
  readonly key: readonly string[];
  /** Columns that have another name than their member. */
  readonly columns?: Readonly<Partial<Record<keyof Kept & string, string>>> | undefined;
  /** Members whose value is not the cell's. */
  readonly decode?: Readonly<Partial<Record<keyof Kept & string, (cell: Cell) => unknown>>> | undefined;
}

export class Table<Kept extends object> {
  readonly #options: TableOptions<Kept>;
  /** By column, as far as they have been read. */
  readonly #members: Map<string, string>;

  constructor(options: TableOptions<Kept>) {
    this.#options = options;
    this.#members = new Map(Object.entries(options.columns ?? {}).map(([member, column]) => [String(column), member]));
  }

  /** @param rest of the query: WHERE and what may follow it */
  all(rest = "", ...parameters: readonly Cell[]): readonly Kept[] {
    const rows = this.#options.prepare(`SELECT * FROM ${this.#options.name} ${rest}`).all(...parameters) as Row[];
    return rows.map((row) => this.#recordOf(row));
  }

  first(rest: string, ...parameters: readonly Cell[]): Kept | undefined {
    return this.all(rest, ...parameters)[0];
  }

  /** What `save` and `update` write. */
  rowOf(record: Partial<Kept>): Row {
    return Object.fromEntries(Object.entries(record).map(([member, value]) => [this.#columnOf(member), cellOf(value)]));
  }

  /** In the place of the one with the same key, if there is one. */
  save(row: Row): void {
    const { prepare, name, key } = this.#options;
    const columns = Object.keys(row);
    const values = columns.map((column) => `@${column}`);
    const updates = columns.filter((column) => !key.includes(column)).map((column) => `${column} = excluded.${column}`);
    prepare(
      `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${values.join(", ")}) ` +
        `ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${updates.join(", ")}`,
    ).run(row);
  }

  /** @param row with its key */
  update(row: Row): void {
    const { prepare, name, key } = this.#options;
    const sets = Object.keys(row).filter((column) => !key.includes(column));
    const [set, where] = [sets, key].map((columns) => columns.map((column) => `${column} = @${column}`));
    prepare(`UPDATE ${name} SET ${set!.join(", ")} WHERE ${where!.join(" AND ")}`).run(row);
  }

  /** @param values of its key */
  remove(...values: readonly Cell[]): void {
    const { prepare, name, key } = this.#options;
    prepare(`DELETE FROM ${name} WHERE ${key.map((column) => `${column} = ?`).join(" AND ")}`).run(...values);
  }

  /** All but so many, the highest in this column, are removed. */
  trim(column: string, most: number): void {
    const { prepare, name, key } = this.#options;
    const surplus = `SELECT ${key.join(", ")} FROM ${name} ORDER BY ${column} DESC LIMIT -1 OFFSET ?`;
    prepare(`DELETE FROM ${name} WHERE (${key.join(", ")}) IN (${surplus})`).run(most);
  }

  #columnOf(member: string): string {
    const { columns } = this.#options;
    return (
      columns?.[member as keyof Kept & string] ?? member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    );
  }

  #recordOf(row: Row): Kept {
    const { decode } = this.#options;
    const record: Record<string, unknown> = {};
    for (const column in row) {
      const member = this.#memberOf(column);
      const decoded = decode?.[member as keyof Kept & string];
      record[member] = decoded === undefined ? (row[column] ?? undefined) : decoded(row[column]!);
    }
    return record as Kept;
  }

  #memberOf(column: string): string {
    let member = this.#members.get(column);
    if (member === undefined) {
      member = column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      this.#members.set(column, member);
    }
    return member;
  }
}

/** For `decode`, of what was an object. */
export const jsonOf = (cell: Cell): unknown => (cell === null ? undefined : JSON.parse(String(cell)));

function cellOf(value: unknown): Cell {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" ? JSON.stringify(value) : (value as Cell);
}
