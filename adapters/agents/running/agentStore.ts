/**
 * The agents' database (`agents.db` in the state directory): what ran, under which name, and what was known of it, so that
 * names survive the daemon and `resume` knows what there was. One daemon has it; another one of the same user, or one whose
 * file cannot be used, keeps its agents in memory, and the log says so.
 */
import { existsSync } from "node:fs";
import { openDatabase } from "../../../daemon/ops/sql/database.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { becomeSoleOwner, hasOwner } from "../../../daemon/ops/sql/soleOwner.ts";
import { closeDatabase, type Database } from "../../../daemon/ops/sql/sqlite.ts";
import { jsonOf, preparing, Table } from "../../../daemon/ops/sql/table.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { AgentFacts } from "./runningAgent.ts";

/** Every table of this room, in the order in which they were added. */
export const AGENT_MIGRATIONS: readonly string[] = [
  `CREATE TABLE agents (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    server TEXT NOT NULL,
    pid INTEGER NOT NULL,
    start TEXT NOT NULL,
    executable TEXT,
    facts TEXT NOT NULL,
    place TEXT NOT NULL,
    appeared_unix_ms INTEGER NOT NULL,
    ended_unix_ms INTEGER,
    with_server INTEGER NOT NULL DEFAULT 0
  ) WITHOUT ROWID;
  CREATE INDEX agents_by_process ON agents (server, pid, start);
  CREATE INDEX agents_by_age ON agents (appeared_unix_ms);`,
  `CREATE TABLE worktrees (
    name TEXT PRIMARY KEY,
    path TEXT NOT NULL,
    repository TEXT NOT NULL,
    branch TEXT NOT NULL,
    own_branch INTEGER NOT NULL,
    made_unix_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE starts (
    key TEXT PRIMARY KEY,
    request TEXT NOT NULL,
    result TEXT,
    begun_unix_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX starts_by_age ON starts (begun_unix_ms);
  CREATE TABLE places (
    identity TEXT NOT NULL,
    session TEXT NOT NULL,
    server TEXT NOT NULL,
    place TEXT NOT NULL,
    agents TEXT NOT NULL,
    noted_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (identity, session)
  ) WITHOUT ROWID;`,
  `CREATE TABLE messages (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  agent TEXT NOT NULL,
  agent_name TEXT NOT NULL,
  process TEXT NOT NULL,
  text TEXT NOT NULL,
  urgency TEXT NOT NULL,
  key TEXT,
  request TEXT NOT NULL,
  created_unix_ms INTEGER NOT NULL,
  expires_unix_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT,
  attempt INTEGER NOT NULL,
  typed_unix_ms INTEGER,
  delivered_unix_ms INTEGER,
  confirmed_by TEXT,
  done_unix_ms INTEGER,
  last_words TEXT
);
CREATE INDEX messages_by_outcome ON messages (outcome, number);
CREATE INDEX messages_by_agent ON messages (agent, number);
CREATE INDEX messages_by_key ON messages (agent_name, key) WHERE key IS NOT NULL;`,
  `ALTER TABLE messages ADD COLUMN entered_unix_ms INTEGER;
ALTER TABLE messages ADD COLUMN was_shown INTEGER NOT NULL DEFAULT 0;
DROP INDEX messages_by_key;
CREATE INDEX messages_by_key ON messages (key) WHERE key IS NOT NULL;`,
  `CREATE TABLE notices (id TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE last_seen (agent TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;`,
  `CREATE TABLE timeline (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  agent TEXT NOT NULL,
  name TEXT NOT NULL,
  server TEXT NOT NULL,
  socket TEXT,
  kind TEXT NOT NULL,
  unix_ms INTEGER NOT NULL,
  actor TEXT,
  text TEXT,
  options TEXT,
  outcome TEXT,
  mark TEXT,
  bytes INTEGER NOT NULL
);
CREATE INDEX timeline_by_agent ON timeline (agent, number);
CREATE INDEX timeline_by_name ON timeline (name, number);
CREATE INDEX timeline_by_age ON timeline (unix_ms);
CREATE UNIQUE INDEX timeline_marks ON timeline (agent, mark) WHERE mark IS NOT NULL;
CREATE TABLE timeline_dropped (
  agent TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  server TEXT NOT NULL,
  socket TEXT,
  entries INTEGER NOT NULL,
  until_unix_ms INTEGER NOT NULL
) WITHOUT ROWID;`,
];

/** The newest are kept: months of a busy person's agents. */
const MAX_ROWS = 1_000;
/** Older rows are swept at the first and at every so many agents. */
const SWEEP_EVERY = 50;

/** As it was last seen. */
export interface KeptAgent {
  readonly id: string;
  /** Its kind, by the name in the catalogue. */
  readonly kind: string;
  readonly name: string;
  readonly process: ProcessMark;
  readonly facts: AgentFacts;
  /** Its server, by its name in paths, and its socket (where in it: `start/placedSessions.ts`). */
  readonly place: { readonly serverName: string; readonly socketPath: string | undefined };
  readonly appearedUnixMs: number;
  /** Undefined while nobody has seen its end: it runs, or the machine or the daemon ended first. */
  readonly endedUnixMs: number | undefined;
}

interface Row extends Omit<KeptAgent, "process">, ProcessMark {
  /** Its identity. */
  readonly server: string;
}

interface AgentStoreOptions {
  /** Absolute; `:memory:` for one that does not outlive us. */
  readonly path: string;
  readonly nowUnixMs: () => number;
  readonly log: Log;
  readonly maxRows?: number | undefined;
}

interface Opened {
  readonly database: Database;
  readonly table: Table<Row>;
  readonly release: () => void;
  /** Another daemon of the same user has the file. */
  readonly isElsewhere: boolean;
}

export class AgentStore {
  readonly #options: AgentStoreOptions;
  #opened: Opened | undefined;
  #isClosed = false;
  #made = 0;

  constructor(options: AgentStoreOptions) {
    this.#options = options;
  }

  get database(): Database {
    return this.#use().database;
  }

  /** Another daemon of the same user has the file: this one keeps its agents in memory. */
  get isKeptElsewhere(): boolean {
    return this.#use().isElsewhere;
  }

  /** The agent that was this process. @param server its identity */
  find(server: string, { pid, start, executable }: ProcessMark): KeptAgent | undefined {
    const where = "WHERE server = ? AND pid = ? AND start = ? AND executable IS ? AND ended_unix_ms IS NULL";
    const row = this.#use().table.first(where, server, pid, start, executable ?? null);
    return row === undefined ? undefined : keptOf(row);
  }

  /** @param server its identity */
  keep(server: string, { process, ...agent }: KeptAgent): void {
    const { table } = this.#use();
    if (this.#made++ % SWEEP_EVERY === 0) table.trim("appeared_unix_ms", this.#options.maxRows ?? MAX_ROWS);
    table.save(table.rowOf({ ...agent, ...process, server }));
  }

  end(id: string, unixMs: number): void {
    const { table } = this.#use();
    table.update(table.rowOf({ id, endedUnixMs: unixMs }));
  }

  /** Those of a server whose end nobody has seen. @param server its identity */
  unended(server: string): readonly KeptAgent[] {
    if (this.#opened === undefined && !existsSync(this.#options.path)) return [];
    return this.#use().table.all("WHERE server = ? AND ended_unix_ms IS NULL", server).map(keptOf);
  }

  /** The newest first. */
  all(): readonly KeptAgent[] {
    return this.#use().table.all("ORDER BY appeared_unix_ms DESC, id").map(keptOf);
  }

  close(): void {
    const opened = this.#opened;
    this.#opened = undefined;
    this.#isClosed = true;
    if (opened === undefined) return;
    closeDatabase(opened.database);
    opened.release();
  }

  /** Opened when it is first needed: a daemon that has no agents makes none. */
  #use(): Opened {
    if (this.#isClosed) throw new TypeError("the agents' database was used after it was closed");
    this.#opened ??= this.#open();
    return this.#opened;
  }

  #open(): Opened {
    const { path, log } = this.#options;
    let release = (): void => undefined;
    try {
      release = becomeSoleOwner(path, SETTING);
      return { ...this.#openAt(path), release, isElsewhere: false };
    } catch (error) {
      release();
      log.warn("agents.store.unusable", { error: toAppError(error) });
      return { ...this.#openAt(":memory:"), release: () => undefined, isElsewhere: isOwned(path) };
    }
  }

  #openAt(path: string): Pick<Opened, "database" | "table"> {
    const { nowUnixMs, log } = this.#options;
    const onMovedAside = (movedTo: string, error: unknown): void =>
      log.error("agents.store.damaged", { movedTo, error });
    const database = openDatabase({ path, setting: SETTING, migrations: AGENT_MIGRATIONS, nowUnixMs, onMovedAside });
    const table = new Table<Row>({
      prepare: preparing(database),
      name: "agents",
      key: ["id"],
      decode: { facts: jsonOf, place: jsonOf },
    });
    return { database, table };
  }
}

const SETTING = "XDG_STATE_HOME";

function isOwned(path: string): boolean {
  try {
    return hasOwner(path);
  } catch {
    return false;
  }
}

const keptOf = ({ server: _server, pid, start, executable, ...agent }: Row): KeptAgent => ({
  ...agent,
  process: { pid, start, executable },
});
