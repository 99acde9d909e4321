/**
 * Projects, agents, tasks, turns and answers on disk. Reads are prepared statements; writes go through `WriteBehind`, and
 * ids are given out here, so that a record is whole before the database has it.
 */
import type { Log } from "../../../daemon/ops/log.ts";
import { closeDatabase, type Database, type Statement } from "../../../daemon/ops/sql/sqlite.ts";
import { WriteBehind } from "../../../daemon/ops/sql/writeBehind.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import { type Fields, fieldsOf, parseJson, textOf } from "../../../protocol/text/jsonObject.ts";
import type { AgentRecord, ProjectRecord, TaskRecord, TurnRecord } from "./records.ts";
import {
  EVENT_ID_BLOCK,
  KEEP_ANSWERS_MS,
  KEEP_HISTORY_MS,
  MAX_KEPT_ANSWERS,
  MAX_PENDING_BYTES,
} from "../dashboardLimits.ts";

interface StoreOptions {
  /** Opened with `MIGRATIONS`. */
  readonly database: Database;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
}

/** The response to a request with an idempotency key; without a status it was begun, and its outcome is unknown. */
interface KeptResponse {
  readonly agentId: number;
  readonly key: string;
  readonly requestHash: string;
  readonly status: number | undefined;
  readonly body: string | undefined;
  readonly atUnixMs: number;
}

interface Records {
  readonly projects: ProjectRecord;
  readonly agents: AgentRecord;
  readonly tasks: TaskRecord;
  readonly turns: TurnRecord;
  readonly answers: KeptResponse;
}

/** Those whose records have an id, which is given out here. */
const NUMBERED = ["projects", "agents", "tasks", "turns"] as const;
type Numbered = (typeof NUMBERED)[number];

export class DashboardStore {
  readonly #database: Database;
  readonly #writes: WriteBehind;
  readonly #statements = new Map<string, Statement>();
  readonly #lastIds: Map<Numbered, number>;
  #nextEventId: number;
  #reservedEventId: number;

  /** @throws Error of SQLite when the database cannot be read */
  constructor({ database, clock, nowUnixMs, log }: StoreOptions) {
    this.#database = database;
    this.#writes = new WriteBehind({
      database,
      owner: "dashboard",
      isShared: false,
      maxPendingBytes: MAX_PENDING_BYTES,
      whenFull: "refuse",
      clock,
      log,
    });
    this.#forgetOld(nowUnixMs());
    this.#lastIds = new Map(NUMBERED.map((table) => [table, Number(this.#value(`SELECT max(id) FROM ${table}`) ?? 0)]));
    this.#nextEventId = Number(this.#value("SELECT value FROM meta WHERE key = 'next_event_id'") ?? 1);
    this.#reservedEventId = this.#nextEventId;
  }

  nextId(table: Numbered): number {
    const id = (this.#lastIds.get(table) ?? 0) + 1;
    this.#lastIds.set(table, id);
    return id;
  }

  /** Grows by one, and by at most `EVENT_ID_BLOCK` over a crash. */
  nextEventId(): number {
    if (this.#nextEventId >= this.#reservedEventId) {
      this.#reservedEventId = this.#nextEventId + EVENT_ID_BLOCK;
      this.#keepEventId(this.#reservedEventId);
    }
    return this.#nextEventId++;
  }

  /** @throws AppError RESOURCE_LIMIT while the database takes no writes */
  requireWritable(): void {
    this.#writes.requireWritable();
  }

  projects(): readonly ProjectRecord[] {
    return this.#all("projects");
  }

  activeAgents(): readonly AgentRecord[] {
    return this.#all("agents", "WHERE ended_unix_ms IS NULL");
  }

  agent(id: number): AgentRecord | undefined {
    return this.#all("agents", "WHERE id = ?", id)[0];
  }

  agentByUuid(sessionUuid: string): AgentRecord | undefined {
    return this.#all("agents", "WHERE session_uuid = ?", sessionUuid)[0];
  }

  agentBySession(agentSessionId: string): AgentRecord | undefined {
    const where = "WHERE claude_session_id = ? ORDER BY last_seen_unix_ms DESC LIMIT 1";
    return this.#all("agents", where, agentSessionId)[0];
  }

  lastTask(agentId: number): TaskRecord | undefined {
    return this.#all("tasks", "WHERE agent_id = ? ORDER BY id DESC LIMIT 1", agentId)[0];
  }

  /** Newest first. */
  turns(agentId: number, limit: number): readonly TurnRecord[] {
    return this.#all("turns", "WHERE agent_id = ? ORDER BY id DESC LIMIT ?", agentId, limit);
  }

  turnCount(taskId: number): number {
    return Number(this.#value("SELECT count(*) FROM turns WHERE task_id = ?", taskId));
  }

  answer(agentId: number, key: string): KeptResponse | undefined {
    return this.#all("answers", "WHERE agent_id = ? AND key = ?", agentId, key)[0];
  }

  /** In the place of the one with the same id, or of the answer with the same key. */
  save<Table extends keyof Records>(table: Table, record: Records[Table]): void {
    const row = rowOf(record);
    const columns = Object.keys(row);
    const updates = columns.filter((column) => column !== "id").map((column) => `${column} = excluded.${column}`);
    const sql =
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((column) => `@${column}`).join(", ")}) ` +
      `ON CONFLICT (${table === "answers" ? "agent_id, key" : "id"}) DO UPDATE SET ${updates.join(", ")}`;
    this.#writes.add(() => this.#prepare(sql).run(row), sizeOf(row));
  }

  removeAnswer(agentId: number, key: string): void {
    this.#writes.add(
      () => this.#prepare("DELETE FROM answers WHERE agent_id = ? AND key = ?").run(agentId, key),
      WRITE_BYTES,
    );
  }

  /** At once, for what must be on disk before something else is done. */
  flush(): void {
    this.#writes.flush();
  }

  /** Safe to call twice. */
  close(): void {
    if (!this.#database.isOpen) return;
    // Ids that were reserved and not used are used next time.
    if (this.#reservedEventId > this.#nextEventId) this.#keepEventId(this.#nextEventId);
    this.#writes.close();
    closeDatabase(this.#database);
  }

  #forgetOld(nowUnixMs: number): void {
    const endedBefore = nowUnixMs - KEEP_HISTORY_MS;
    this.#writes.add(() => {
      const old = "SELECT id FROM agents WHERE ended_unix_ms < ?";
      this.#prepare(`DELETE FROM turns WHERE agent_id IN (${old})`).run(endedBefore);
      this.#prepare(`DELETE FROM tasks WHERE agent_id IN (${old})`).run(endedBefore);
      this.#prepare("DELETE FROM answers WHERE at_unix_ms < ?").run(nowUnixMs - KEEP_ANSWERS_MS);
      const surplus = "SELECT rowid FROM answers ORDER BY at_unix_ms DESC LIMIT -1 OFFSET ?";
      this.#prepare(`DELETE FROM answers WHERE rowid IN (${surplus})`).run(MAX_KEPT_ANSWERS);
    }, WRITE_BYTES);
    this.#writes.flush();
  }

  #keepEventId(id: number): void {
    this.#writes.add(
      () => this.#prepare("INSERT OR REPLACE INTO meta VALUES ('next_event_id', ?)").run(String(id)),
      WRITE_BYTES,
    );
  }

  #all<Table extends keyof Records>(
    table: Table,
    where = "",
    ...parameters: (string | number)[]
  ): readonly Records[Table][] {
    const rows = this.#prepare(`SELECT * FROM ${table} ${where}`).all(...parameters) as Row[];
    return rows.map((row) => recordOf(row) as Records[Table]);
  }

  /** Of a query for one value. */
  #value(sql: string, ...parameters: number[]): string | number | null | undefined {
    const row = this.#prepare(sql).get(...parameters) as Row | undefined;
    return row === undefined ? undefined : Object.values(row)[0];
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#database.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

type Cell = string | number | null;
type Row = Readonly<Record<string, Cell>>;

/** What a write takes in memory besides its texts. */
const WRITE_BYTES = 500;

const sizeOf = (row: Row): number =>
  Object.values(row).reduce<number>(
    (bytes, cell) => bytes + (typeof cell === "string" ? Buffer.byteLength(cell) : 0),
    WRITE_BYTES,
  );

/**
 * A record of the row's table: a member is in the column of its name (`sessionUuid` in `session_uuid`), and undefined is
 * NULL. The tables are STRICT, so a column holds its type; only what is JSON is checked here.
 */
const recordOf = (row: Row): object =>
  Object.fromEntries(Object.entries(row).map(([column, cell]) => [memberOf(column), valueOf(column, cell)]));

const rowOf = (record: object): Row =>
  Object.fromEntries(Object.entries(record).map(([member, value]) => [columnOf(member), cellOf(value)]));

/** Columns that have another name than their member. */
const RENAMED: readonly (readonly [member: string, column: string])[] = [
  ["isEchoPending", "echo_pending"],
  ["agentSessionId", "claude_session_id"],
];

const columnOf = (member: string): string =>
  RENAMED.find(([name]) => name === member)?.[1] ?? member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const memberOf = (column: string): string =>
  RENAMED.find(([, name]) => name === column)?.[0] ??
  column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

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
