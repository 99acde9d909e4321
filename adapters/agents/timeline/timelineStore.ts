/**
 * The timeline on disk, in the agents' database (`agentStore.ts`). Bounded by age, by entries of an agent and by bytes of all;
 * the oldest go first, and what goes before its age is counted. Nobody waits for a write (`WriteBehind`).
 */
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import { WriteBehind } from "../../../daemon/ops/sql/writeBehind.ts";
import { TIMELINE_DAYS, type TimelineKind, type TimelineOutcome } from "../../../protocol/api/native/nativeTimeline.ts";

const KEPT_MS = TIMELINE_DAYS * 86_400_000;
/** Weeks of an agent that takes a prompt every few minutes. */
const MAX_ENTRIES_PER_AGENT = 2_000;
/** Of all entries, as they are counted by `sizeOf`: a search reads them all in about half a second. */
const MAX_BYTES = 33_554_432;
/** What a row takes besides its texts. */
const ROW_BYTES = 200;
/** Old entries are removed at the first write and at a write after so long. */
const SWEEP_MS = 3_600_000;
/** Removed at once when there are too many bytes. */
const TRIM_ROWS = 100;
/** Of writes that wait because the database takes none: a thousand of the longest. What is more is lost, the oldest first. */
const MAX_PENDING_BYTES = 16_777_216;
/** A search gives others a turn after so many entries. */
const SEARCHED_AT_ONCE = 200;

export interface TimelineEntry {
  readonly number: number;
  readonly agent: string;
  readonly name: string;
  readonly server: string;
  /** By which the server is known when its name is another. */
  readonly socket: string | undefined;
  readonly kind: TimelineKind;
  readonly unixMs: number;
  readonly by: string | undefined;
  readonly text: string | undefined;
  readonly options: readonly string[] | undefined;
  readonly outcome: TimelineOutcome | undefined;
  /** An agent has one entry with it. */
  readonly mark: string | undefined;
}

export interface TimelineFilter {
  /** What it is called now, or was then. */
  readonly agent?: { readonly id: string; readonly name: string } | undefined;
  /** By its socket; by its name where that is not known. */
  readonly server?: { readonly name: string; readonly socket: string | undefined } | undefined;
  readonly query?: string | undefined;
  readonly kind?: TimelineKind | undefined;
  readonly before?: number | undefined;
  readonly limit: number;
}

interface Dropped {
  readonly entries: number;
  readonly untilUnixMs: number;
}

interface Row {
  readonly number: number;
  readonly agent: string;
  readonly name: string;
  readonly server: string;
  readonly socket: string | null;
  readonly kind: TimelineKind;
  readonly unix_ms: number;
  readonly actor: string | null;
  readonly text: string | null;
  readonly options: string | null;
  readonly outcome: TimelineOutcome | null;
  readonly mark: string | null;
  readonly bytes: number;
}

interface TimelineStoreOptions extends Surroundings {
  readonly database: Database;
  readonly maxPendingBytes?: number | undefined;
  readonly maxEntriesPerAgent?: number | undefined;
  readonly maxBytes?: number | undefined;
}

type Change = Partial<Pick<TimelineEntry, "by" | "text" | "options" | "outcome">>;

export class TimelineStore {
  readonly #options: TimelineStoreOptions;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #writes: WriteBehind;
  #next: number;
  /** Of all entries that are on disk. */
  #bytes: number;
  #sweptUnixMs = -Infinity;

  constructor(options: TimelineStoreOptions) {
    const { database, clock, log, maxPendingBytes = MAX_PENDING_BYTES } = options;
    this.#options = options;
    this.#statements = prepare(database);
    this.#writes = new WriteBehind({
      database,
      owner: "timeline",
      isShared: true,
      maxPendingBytes,
      whenFull: "loseOldest",
      around: (write) => this.#countRight(write),
      clock,
      log,
    });
    const { next, bytes } = this.#statements.sums.get() as { readonly next: number; readonly bytes: number };
    this.#next = next;
    this.#bytes = bytes;
  }

  /** A number for an entry that is kept once it is certain. */
  reserve(): number {
    return this.#next++;
  }

  /** Returns its number. One with a mark that the agent has already is not kept twice. */
  add(entry: Omit<TimelineEntry, "number">, number = this.reserve()): number {
    const { agent, name, server, socket, kind, unixMs, by, text, options, outcome, mark } = entry;
    const bytes = sizeOf(entry);
    const listed = options === undefined ? null : JSON.stringify(options);
    this.#write(() => {
      const { add, trimAgent } = this.#statements;
      const { changes } = add.run(
        number,
        agent,
        name,
        server,
        socket ?? null,
        kind,
        unixMs,
        by ?? null,
        text ?? null,
        listed,
        outcome ?? null,
        mark ?? null,
        bytes,
      );
      if (changes === 0) return;
      this.#bytes += bytes;
      this.#drop(trimAgent.all(agent, this.#options.maxEntriesPerAgent ?? MAX_ENTRIES_PER_AGENT));
      this.#trim();
    }, bytes);
    return number;
  }

  change(number: number, change: Change): void {
    this.#write(() => {
      const { find, change: set } = this.#statements;
      const before = entryOf(find.get(number) as Row | undefined);
      if (before === undefined) return;
      const next = { ...before, ...change };
      const listed = next.options === undefined ? null : JSON.stringify(next.options);
      this.#bytes += sizeOf(next) - sizeOf(before);
      set.run(next.by ?? null, next.text ?? null, listed, next.outcome ?? null, sizeOf(next), number);
    }, sizeOf(change));
  }

  /** The newest first. */
  newest(agent: string, limit: number): readonly TimelineEntry[] {
    this.flush();
    return (this.#statements.newest.all(agent, limit) as unknown as readonly Row[]).map((row) => entryOf(row)!);
  }

  marked(agent: string, mark: string): TimelineEntry | undefined {
    this.flush();
    return entryOf(this.#statements.marked.get(agent, mark) as Row | undefined);
  }

  /** The newest first. `next`: there are older ones, from before this entry. */
  async find(filter: TimelineFilter): Promise<{
    readonly entries: readonly TimelineEntry[];
    readonly next: number | undefined;
    readonly dropped: Dropped | undefined;
  }> {
    this.flush();
    const { limit, query } = filter;
    const wanted = query?.toLowerCase();
    const entries: TimelineEntry[] = [];
    let before = filter.before ?? Number.MAX_SAFE_INTEGER;
    const dropped = this.#dropped(filter);
    for (;;) {
      const atOnce = wanted === undefined ? limit + 1 : SEARCHED_AT_ONCE;
      const rows = this.#page(filter, before, atOnce);
      for (const row of rows) {
        const entry = entryOf(row)!;
        if (wanted !== undefined && !holds(entry, wanted)) continue;
        if (entries.length === limit) return { entries, next: entries.at(-1)!.number, dropped };
        entries.push(entry);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < atOnce) return { entries, next: undefined, dropped };
      before = last.number;
      // Programs in panes do not wait for whoever searches.
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  /** Whether anything is kept, or was, of such an agent. @param agent a name, or an id */
  knows(agent: string): boolean {
    this.flush();
    return this.#statements.knows.get(agent, agent) !== undefined;
  }

  /** Writes what waits, if the database takes it. */
  flush(): void {
    this.#writes.flush();
  }

  /** Safe to call twice. */
  close(): void {
    this.#writes.close();
  }

  #write(write: () => void, bytes: number): void {
    const nowUnixMs = this.#options.nowUnixMs();
    if (nowUnixMs - this.#sweptUnixMs >= SWEEP_MS || nowUnixMs < this.#sweptUnixMs) {
      this.#sweptUnixMs = nowUnixMs;
      this.#writes.add(() => this.#sweep(nowUnixMs), ROW_BYTES);
    }
    this.#writes.add(write, bytes);
  }

  /** What is rolled back has changed nothing. */
  #countRight(write: () => void): void {
    const bytes = this.#bytes;
    try {
      write();
    } catch (error) {
      this.#bytes = bytes;
      throw error;
    }
  }

  #page({ agent, server, kind }: TimelineFilter, before: number, limit: number): readonly Row[] {
    const since = this.#options.nowUnixMs() - KEPT_MS;
    const { all, ofAgent } = this.#statements;
    const more = [kind ?? null, kind ?? null, ...serverParts(server), limit] as const;
    const rows =
      agent === undefined ? all.all(before, since, ...more) : ofAgent.all(agent.id, agent.name, before, since, ...more);
    return rows as readonly Row[];
  }

  #dropped({ agent, server }: TimelineFilter): Dropped | undefined {
    const since = this.#options.nowUnixMs() - KEPT_MS;
    const { entries, untilUnixMs } = this.#statements.dropped.get(
      agent?.id ?? null,
      agent?.id ?? null,
      agent?.name ?? null,
      ...serverParts(server),
      since,
    ) as { readonly entries: number; readonly untilUnixMs: number };
    return entries === 0 ? undefined : { entries, untilUnixMs };
  }

  #sweep(nowUnixMs: number): void {
    const { expire, expireDropped } = this.#statements;
    for (const { bytes } of expire.all(nowUnixMs - KEPT_MS) as unknown as readonly Row[]) this.#bytes -= bytes;
    expireDropped.run(nowUnixMs - KEPT_MS);
  }

  #trim(): void {
    const most = this.#options.maxBytes ?? MAX_BYTES;
    while (this.#bytes > most) {
      const rows = this.#statements.oldest.all(TRIM_ROWS) as unknown as readonly Row[];
      if (rows.length === 0) return;
      const gone: Row[] = [];
      for (const row of rows) {
        if (this.#bytes <= most) break;
        this.#statements.remove.run(row.number);
        gone.push(row);
        this.#bytes -= row.bytes;
      }
      this.#count(gone);
    }
  }

  #drop(rows: readonly unknown[]): void {
    const gone = rows as readonly Row[];
    for (const { bytes } of gone) this.#bytes -= bytes;
    this.#count(gone);
  }

  #count(gone: readonly Row[]): void {
    for (const { agent, name, server, socket, unix_ms: unixMs } of gone) {
      this.#statements.countDropped.run(agent, name, server, socket, unixMs);
    }
  }
}

const sizeOf = ({ text, options }: Partial<Pick<TimelineEntry, "text" | "options">>): number =>
  ROW_BYTES + Buffer.byteLength(text ?? "") + (options === undefined ? 0 : Buffer.byteLength(JSON.stringify(options)));

const holds = ({ name, text, options }: TimelineEntry, wanted: string): boolean =>
  [name, text ?? "", ...(options ?? [])].some((words) => words.toLowerCase().includes(wanted));

/** For `ON_SERVER`. */
const serverParts = (server: TimelineFilter["server"]) => {
  const [name, socket] = [server?.name ?? null, server?.socket ?? null];
  return [name, socket, socket, name] as const;
};

const ON_SERVER = "(? IS NULL OR socket = ? OR ((? IS NULL OR socket IS NULL) AND server = ?))";
const SHOWN = `number < ? AND unix_ms >= ? AND (? IS NULL OR kind = ?) AND ${ON_SERVER}`;

const prepare = (database: Database) => ({
  sums: database.prepare(`SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'timeline'), 0) + 1 AS next,
    (SELECT coalesce(sum(bytes), 0) FROM timeline) AS bytes`),
  add: database.prepare(`INSERT OR IGNORE INTO timeline
    (number, agent, name, server, socket, kind, unix_ms, actor, text, options, outcome, mark, bytes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
  change: database.prepare(
    "UPDATE timeline SET actor = ?, text = ?, options = ?, outcome = ?, bytes = ? WHERE number = ?",
  ),
  find: database.prepare("SELECT * FROM timeline WHERE number = ?"),
  newest: database.prepare("SELECT * FROM timeline WHERE agent = ? ORDER BY number DESC LIMIT ?"),
  marked: database.prepare("SELECT * FROM timeline WHERE agent = ? AND mark = ?"),
  all: database.prepare(`SELECT * FROM timeline WHERE ${SHOWN} ORDER BY number DESC LIMIT ?`),
  ofAgent: database.prepare(
    `SELECT * FROM timeline WHERE (agent = ? OR name = ?) AND ${SHOWN} ORDER BY number DESC LIMIT ?`,
  ),
  knows: database.prepare("SELECT 1 FROM timeline WHERE agent = ? OR name = ? LIMIT 1"),
  trimAgent: database.prepare(`DELETE FROM timeline WHERE number IN
    (SELECT number FROM timeline WHERE agent = ? ORDER BY number DESC LIMIT -1 OFFSET ?) RETURNING *`),
  oldest: database.prepare("SELECT * FROM timeline ORDER BY number LIMIT ?"),
  remove: database.prepare("DELETE FROM timeline WHERE number = ?"),
  expire: database.prepare("DELETE FROM timeline WHERE unix_ms < ? RETURNING bytes"),
  countDropped: database.prepare(`INSERT INTO timeline_dropped (agent, name, server, socket, entries, until_unix_ms)
    VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (agent) DO UPDATE SET name = excluded.name, entries = entries + 1,
    until_unix_ms = max(until_unix_ms, excluded.until_unix_ms)`),
  expireDropped: database.prepare("DELETE FROM timeline_dropped WHERE until_unix_ms < ?"),
  dropped: database.prepare(`SELECT coalesce(sum(entries), 0) AS entries, coalesce(max(until_unix_ms), 0) AS untilUnixMs
    FROM timeline_dropped WHERE (? IS NULL OR agent = ? OR name = ?) AND ${ON_SERVER}
    AND until_unix_ms >= ?`),
});

function entryOf(row: Row | undefined): TimelineEntry | undefined {
  if (row === undefined) return undefined;
  const { number, agent, name, server, socket, kind, unix_ms: unixMs, actor, text, options, outcome, mark } = row;
  return {
    number,
    agent,
    name,
    server,
    socket: socket ?? undefined,
    kind,
    unixMs,
    by: actor ?? undefined,
    text: text ?? undefined,
    options: options === null ? undefined : (JSON.parse(options) as readonly string[]),
    outcome: outcome ?? undefined,
    mark: mark ?? undefined,
  };
}
