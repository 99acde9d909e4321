/**
 * Between the database's rows and the records: a member is in the column of its name (`sessionUuid` in `session_uuid`), and
 * undefined is NULL. The tables are STRICT, so a column holds its type; only what is JSON is checked here.
 */
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import { type Fields, fieldsOf, parseJson, textOf } from "../fields.ts";

type Cell = string | number | null;
export type Row = Readonly<Record<string, Cell>>;

/** A record of the row's table. */
export const recordOf = (row: Row): object =>
  Object.fromEntries(Object.entries(row).map(([column, cell]) => [memberOf(column), valueOf(column, cell)]));

export const rowOf = (record: object): Row =>
  Object.fromEntries(Object.entries(record).map(([member, value]) => [columnOf(member), cellOf(value)]));

const columnOf = (member: string): string =>
  member === "isEchoPending" ? "echo_pending" : member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const memberOf = (column: string): string =>
  column === "echo_pending"
    ? "isEchoPending"
    : column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

function cellOf(value: unknown): Cell {
  if (value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "object" ? JSON.stringify(value) : (value as Cell);
}

function valueOf(column: string, cell: Cell): unknown {
  if (column === "process") return processOf(cell);
  if (column === "tool_input") return objectOf(cell);
  return column === "echo_pending" ? cell === 1 : (cell ?? undefined);
}

function processOf(cell: Cell): ProcessMark | undefined {
  const { pid, start, executable } = objectOf(cell) ?? {};
  if (typeof pid !== "number" || typeof start !== "string") return undefined;
  return { pid, start, executable: textOf(executable) };
}

const objectOf = (cell: Cell): Fields | undefined => fieldsOf(parseJson(textOf(cell) ?? ""));
