/**
 * Projects, agents, tasks, turns and answers on disk. Reads are prepared statements; writes go through `WriteBehind`, and
 * ids are given out here, so that a record is whole before the database has it.
 */
import type { Log } from "../../../daemon/ops/log.ts";
import { closeDatabase, type Database, type Statement } from "../../../daemon/ops/sqlite.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { AgentRecord, ProjectRecord, TaskRecord, TurnRecord } from "../agents/records.ts";
import { EVENT_ID_BLOCK, KEEP_ANSWERS_MS, KEEP_HISTORY_MS, MAX_KEPT_ANSWERS } from "../dashboardLimits.ts";
import { agentOf, agentRow, projectOf, projectRow, type Row, taskOf, taskRow, turnOf, turnRow } from "./rows.ts";
import { WriteBehind } from "./writeBehind.ts";

interface StoreOptions {
  /** Opened with `MIGRATIONS`. */
  readonly database: Database;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
}

/** The response to a request with an idempotency key; without a status it was begun and nobody knows how it ended. */
interface KeptResponse {
  readonly agentId: number;
  readonly key: string;
  readonly requestHash: string;
  readonly status: number | undefined;
  readonly body: string | undefined;
  readonly atUnixMs: number;
}

type Table = "projects" | "agents" | "tasks" | "turns";

export class DashboardStore {
  readonly #database: Database;
  readonly #writes: WriteBehind;
  readonly #statements = new Map<string, Statement>();
  readonly #lastIds: Record<Table, number>;
  #nextEventId: number;
  #reservedEventId: number;

  /** @throws Error of SQLite when the database cannot be read */
  constructor({ database, clock, nowUnixMs, log }: StoreOptions) {
    this.#database = database;
    this.#writes = new WriteBehind({ database, clock, log });
    this.#forgetOld(nowUnixMs());
    this.#lastIds = {
      projects: this.#lastId("projects"),
      agents: this.#lastId("agents"),
      tasks: this.#lastId("tasks"),
      turns: this.#lastId("turns"),
    };
    this.#nextEventId = Number(this.#meta("next_event_id") ?? 1);
    this.#reservedEventId = this.#nextEventId;
  }

  nextId(table: Table): number {
    return (this.#lastIds[table] += 1);
  }

  /** Grows by one, and by at most `EVENT_ID_BLOCK` over a crash. */
  nextEventId(): number {
    if (this.#nextEventId >= this.#reservedEventId) {
      this.#reservedEventId = this.#nextEventId + EVENT_ID_BLOCK;
      this.#keepMeta("next_event_id", String(this.#reservedEventId));
    }
    return this.#nextEventId++;
  }

  /** @throws AppError RESOURCE_LIMIT while the database takes no writes */
  requireWritable(): void {
    this.#writes.requireWritable();
  }

  projects(): readonly ProjectRecord[] {
    return this.#all("SELECT * FROM projects").map((row) => projectOf(row));
  }

  activeAgents(): readonly AgentRecord[] {
    return this.#all("SELECT * FROM agents WHERE ended_unix_ms IS NULL").map((row) => agentOf(row));
  }

  agent(id: number): AgentRecord | undefined {
    return this.#one("SELECT * FROM agents WHERE id = ?", id, agentOf);
  }

  agentByUuid(sessionUuid: string): AgentRecord | undefined {
    return this.#one("SELECT * FROM agents WHERE session_uuid = ?", sessionUuid, agentOf);
  }

  agentBySession(claudeSessionId: string): AgentRecord | undefined {
    const sql = "SELECT * FROM agents WHERE claude_session_id = ? ORDER BY last_seen_unix_ms DESC LIMIT 1";
    return this.#one(sql, claudeSessionId, agentOf);
  }

  lastTask(agentId: number): TaskRecord | undefined {
    return this.#one("SELECT * FROM tasks WHERE agent_id = ? ORDER BY id DESC LIMIT 1", agentId, taskOf);
  }

  /** Newest first. */
  turns(agentId: number, limit: number): readonly TurnRecord[] {
    const sql = "SELECT * FROM turns WHERE agent_id = ? ORDER BY id DESC LIMIT ?";
    return this.#all(sql, agentId, limit).map((row) => turnOf(row));
  }

  turnCount(taskId: number): number {
    const [row] = this.#all("SELECT count(*) AS count FROM turns WHERE task_id = ?", taskId);
    return Number(row?.["count"] ?? 0);
  }

  answer(agentId: number, key: string): KeptResponse | undefined {
    const [row] = this.#all("SELECT * FROM answers WHERE agent_id = ? AND key = ?", agentId, key);
    if (row === undefined) return undefined;
    const { request_hash: hash, status, body, at_unix_ms: at } = row;
    return {
      agentId,
      key,
      requestHash: String(hash),
      status: typeof status === "number" ? status : undefined,
      body: typeof body === "string" ? body : undefined,
      atUnixMs: Number(at),
    };
  }

  saveProject(project: ProjectRecord): void {
    this.#save("projects", projectRow(project));
  }

  saveAgent(agent: AgentRecord): void {
    this.#save("agents", agentRow(agent));
  }

  saveTask(task: TaskRecord): void {
    this.#save("tasks", taskRow(task));
  }

  saveTurn(turn: TurnRecord): void {
    this.#save("turns", turnRow(turn));
  }

  saveAnswer(answer: KeptResponse): void {
    const { agentId, key, requestHash, status, body, atUnixMs } = answer;
    const sql = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?)";
    this.#writes.add(() => this.#prepare(sql).run(agentId, key, requestHash, status ?? null, body ?? null, atUnixMs));
  }

  removeAnswer(agentId: number, key: string): void {
    this.#writes.add(() => this.#prepare("DELETE FROM answers WHERE agent_id = ? AND key = ?").run(agentId, key));
  }

  /** At once, for what must be on disk before something else is done. */
  flush(): void {
    this.#writes.flush();
  }

  /** Safe to call twice. */
  close(): void {
    if (!this.#database.isOpen) return;
    // Ids that were reserved and not used are used next time.
    if (this.#reservedEventId > this.#nextEventId) this.#keepMeta("next_event_id", String(this.#nextEventId));
    this.#writes.close();
    closeDatabase(this.#database);
  }

  #save(table: Table, row: Row): void {
    const columns = Object.keys(row);
    const updates = columns.filter((column) => column !== "id").map((column) => `${column} = excluded.${column}`);
    const sql =
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map((column) => `@${column}`).join(", ")}) ` +
      `ON CONFLICT (id) DO UPDATE SET ${updates.join(", ")}`;
    this.#writes.add(() => this.#prepare(sql).run(row));
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
    });
    this.#writes.flush();
  }

  #lastId(table: Table): number {
    const [row] = this.#all(`SELECT max(id) AS id FROM ${table}`);
    return Number(row?.["id"] ?? 0);
  }

  #meta(key: string): string | undefined {
    const [row] = this.#all("SELECT value FROM meta WHERE key = ?", key);
    return row === undefined ? undefined : String(row["value"]);
  }

  #keepMeta(key: string, value: string): void {
    this.#writes.add(() => this.#prepare("INSERT OR REPLACE INTO meta VALUES (?, ?)").run(key, value));
  }

  #one<T>(sql: string, parameter: string | number, decode: (row: Row) => T): T | undefined {
    const [row] = this.#all(sql, parameter);
    return row === undefined ? undefined : decode(row);
  }

  #all(sql: string, ...parameters: (string | number)[]): Row[] {
    return this.#prepare(sql).all(...parameters) as Row[];
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
