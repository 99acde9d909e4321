/**
 * Projects, agents, tasks and turns on disk. Reads are of tables; writes go through `WriteBehind`, and ids are given out
 * here, so that a record is whole before the database has it.
 */
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { closeDatabase, type Database } from "../../../daemon/ops/sql/sqlite.ts";
import { jsonOf, type Prepare, preparing, type Row, Table } from "../../../daemon/ops/sql/table.ts";
import { WriteBehind } from "../../../daemon/ops/sql/writeBehind.ts";
import { textOf } from "../../../protocol/text/jsonObject.ts";
import type { AgentRecord, ProjectRecord, TaskRecord, TurnRecord } from "./records.ts";
import { EVENT_ID_BLOCK, KEEP_HISTORY_MS, MAX_PENDING_BYTES } from "../dashboardLimits.ts";

interface StoreOptions extends Surroundings {
  /** Opened with `MIGRATIONS`. */
  readonly database: Database;
}

interface Records {
  readonly projects: ProjectRecord;
  readonly agents: AgentRecord;
  readonly tasks: TaskRecord;
  readonly turns: TurnRecord;
}

export class DashboardStore {
  readonly #database: Database;
  readonly #writes: WriteBehind;
  readonly prepare: Prepare;
  /** To read from: what is written waits its turn (`save`). */
  readonly tables: { readonly [Name in keyof Records]: Table<Records[Name]> };
  readonly #lastIds: Map<string, number>;
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
    const prepare = preparing(database);
    const key = ["id"];
    this.prepare = prepare;
    this.tables = {
      projects: new Table({ prepare, name: "projects", key }),
      agents: new Table<AgentRecord>({
        prepare,
        name: "agents",
        key,
        columns: { agentSessionId: "claude_session_id" },
        decode: { process: jsonOf },
      }),
      tasks: new Table({ prepare, name: "tasks", key }),
      turns: new Table<TurnRecord>({
        prepare,
        name: "turns",
        key,
        columns: { isEchoPending: "echo_pending" },
        decode: { isEchoPending: (cell) => cell === 1, toolInput: jsonOf },
      }),
    };
    this.#forgetOld(nowUnixMs());
    const tables = Object.entries(this.tables);
    this.#lastIds = new Map(tables.map(([name, table]) => [name, table.first("ORDER BY id DESC LIMIT 1")?.id ?? 0]));
    this.#nextEventId = Number(this.setting(NEXT_EVENT_ID) ?? 1);
    this.#reservedEventId = this.#nextEventId;
  }

  nextId(table: keyof Records): number {
    const id = (this.#lastIds.get(table) ?? 0) + 1;
    this.#lastIds.set(table, id);
    return id;
  }

  /** Grows by one, also over restarts, and by at most `EVENT_ID_BLOCK` over a crash. */
  nextEventId(): number {
    if (this.#nextEventId >= this.#reservedEventId) {
      this.#reservedEventId = this.#nextEventId + EVENT_ID_BLOCK;
      this.keepSetting(NEXT_EVENT_ID, String(this.#reservedEventId));
    }
    return this.#nextEventId++;
  }

  /** @throws AppError RESOURCE_LIMIT while the database takes no writes */
  requireWritable(): void {
    this.#writes.requireWritable();
  }

  /** Newest first. */
  turns(agentId: number, limit: number): readonly TurnRecord[] {
    return this.tables.turns.all("WHERE agent_id = ? ORDER BY id DESC LIMIT ?", agentId, limit);
  }

  turnCount(taskId: number): number {
    const { turns } = this.prepare("SELECT count(*) AS turns FROM turns WHERE task_id = ?").get(taskId) as Row;
    return Number(turns);
  }

  /** In the place of the one with the same id. */
  save<Name extends keyof Records>(name: Name, record: Records[Name]): void {
    const table: Table<Records[Name]> = this.tables[name];
    const row = table.rowOf(record);
    this.#writes.add(() => table.save(row), sizeOf(row));
  }

  /** A value that is kept under this name; undefined: there is none. */
  setting(name: string): string | undefined {
    const row = this.prepare("SELECT value FROM meta WHERE key = ?").get(name) as Row | undefined;
    return textOf(row?.["value"]);
  }

  keepSetting(name: string, value: string): void {
    const row = { key: name, value };
    this.#writes.add(() => this.prepare("INSERT OR REPLACE INTO meta VALUES (@key, @value)").run(row), sizeOf(row));
  }

  /** For what must be on disk before something else is done. */
  writeNow(run: () => void): void {
    this.#writes.add(run, WRITE_BYTES);
    this.#writes.flush();
  }

  /** Safe to call twice. */
  close(): void {
    if (!this.#database.isOpen) return;
    // Ids that were reserved and not used are used next time.
    if (this.#reservedEventId > this.#nextEventId) this.keepSetting(NEXT_EVENT_ID, String(this.#nextEventId));
    this.#writes.close();
    closeDatabase(this.#database);
  }

  #forgetOld(nowUnixMs: number): void {
    const endedBefore = nowUnixMs - KEEP_HISTORY_MS;
    this.writeNow(() => {
      const old = "SELECT id FROM agents WHERE ended_unix_ms < ?";
      this.prepare(`DELETE FROM turns WHERE agent_id IN (${old})`).run(endedBefore);
      this.prepare(`DELETE FROM tasks WHERE agent_id IN (${old})`).run(endedBefore);
    });
  }
}

const NEXT_EVENT_ID = "next_event_id";

/** What a write takes in memory besides its texts. */
const WRITE_BYTES = 500;

const sizeOf = (row: Row): number =>
  Object.values(row).reduce<number>(
    (bytes, cell) => bytes + (typeof cell === "string" ? Buffer.byteLength(cell) : 0),
    WRITE_BYTES,
  );
