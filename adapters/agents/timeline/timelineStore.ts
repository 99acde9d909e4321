/**
 * The timeline on disk, in the agents' database (`agentStore.ts`). Bounded by age, by entries of an agent and by bytes of all;
 * the oldest go first, and what goes before its age is counted. Nobody waits for a write (`WriteBehind`).
 */
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import { jsonOf, type Prepare, preparing, Table } from "../../../daemon/ops/sql/table.ts";
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

interface KeptEntry extends TimelineEntry {
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
  readonly #prepare: Prepare;
  readonly #table: Table<KeptEntry>;
  readonly #writes: WriteBehind;
  #next: number;
  /** Of all entries that are on disk. */
  #bytes: number;
  #sweptUnixMs = -Infinity;

  constructor(options: TimelineStoreOptions) {
    const { database, clock, log, maxPendingBytes = MAX_PENDING_BYTES } = options;
    this.#options = options;
    this.#prepare = preparing(database);
    this.#table = new Table<KeptEntry>({
      prepare: this.#prepare,
      name: "timeline",
      key: ["number"],
      columns: { by: "actor" },
      decode: { options: jsonOf },
    });
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
    const { next, bytes } = this.#prepare(SUMS).get() as { readonly next: number; readonly bytes: number };
    this.#next = next;
    this.#bytes = bytes;
  }

  /** A number for an entry that is kept once it is certain. */
  reserve(): number {
    return this.#next++;
  }

  /** Returns its number. One with a mark that the agent has already is not kept twice. */
  add(entry: Omit<TimelineEntry, "number">, number = this.reserve()): number {
    const bytes = sizeOf(entry);
    const row = this.#table.rowOf({ ...entry, number, bytes });
    this.#write(() => {
      if (this.#prepare(ADD).run(row).changes === 0) return;
      this.#bytes += bytes;
      this.#trim(entry.agent);
    }, bytes);
    return number;
  }

  change(number: number, change: Change): void {
    this.#write(() => {
      const before = this.#table.first("WHERE number = ?", number);
      if (before === undefined) return;
      const bytes = sizeOf({ ...before, ...change });
      this.#bytes += bytes - sizeOf(before);
      this.#table.update(this.#table.rowOf({ ...change, bytes, number }));
    }, sizeOf(change));
  }

  /** The newest first. */
  newest(agent: string, limit: number): readonly TimelineEntry[] {
    this.flush();
    return this.#table.all("WHERE agent = ? ORDER BY number DESC LIMIT ?", agent, limit);
  }

  marked(agent: string, mark: string): TimelineEntry | undefined {
    this.flush();
    return this.#table.first("WHERE agent = ? AND mark = ?", agent, mark);
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
      const page = this.#page(filter, before, atOnce);
      for (const entry of page) {
        if (wanted !== undefined && !holds(entry, wanted)) continue;
        if (entries.length === limit) return { entries, next: entries.at(-1)!.number, dropped };
        entries.push(entry);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < atOnce) return { entries, next: undefined, dropped };
      before = last.number;
      // Programs in panes do not wait for whoever searches.
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
  }

  /** Whether anything is kept, or was, of such an agent. @param agent a name, or an id */
  knows(agent: string): boolean {
    this.flush();
    return this.#prepare("SELECT 1 FROM timeline WHERE agent = ? OR name = ? LIMIT 1").get(agent, agent) !== undefined;
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

  #page({ agent, server, kind }: TimelineFilter, before: number, limit: number): readonly TimelineEntry[] {
    const since = this.#options.nowUnixMs() - KEPT_MS;
    const shown = [before, since, kind ?? null, kind ?? null, ...serverParts(server), limit] as const;
    if (agent === undefined) return this.#table.all(`WHERE ${SHOWN}`, ...shown);
    return this.#table.all(`WHERE (agent = ? OR name = ?) AND ${SHOWN}`, agent.id, agent.name, ...shown);
  }

  #dropped({ agent, server }: TimelineFilter): Dropped | undefined {
    const since = this.#options.nowUnixMs() - KEPT_MS;
    const { entries, untilUnixMs } = this.#prepare(DROPPED).get(
      agent?.id ?? null,
      agent?.id ?? null,
      agent?.name ?? null,
      ...serverParts(server),
      since,
    ) as { readonly entries: number; readonly untilUnixMs: number };
    return entries === 0 ? undefined : { entries, untilUnixMs };
  }

  #sweep(nowUnixMs: number): void {
    const expired = this.#prepare("DELETE FROM timeline WHERE unix_ms < ? RETURNING bytes").all(nowUnixMs - KEPT_MS);
    for (const { bytes } of expired as unknown as readonly KeptEntry[]) this.#bytes -= bytes;
    this.#prepare("DELETE FROM timeline_dropped WHERE until_unix_ms < ?").run(nowUnixMs - KEPT_MS);
  }

  /** After an entry of this agent. */
  #trim(agent: string): void {
    const { maxEntriesPerAgent = MAX_ENTRIES_PER_AGENT, maxBytes = MAX_BYTES } = this.#options;
    for (const entry of this.#table.all(SURPLUS, agent, maxEntriesPerAgent)) this.#drop(entry);
    while (this.#bytes > maxBytes) {
      const oldest = this.#table.all("ORDER BY number LIMIT ?", TRIM_ROWS);
      if (oldest.length === 0) return;
      for (const entry of oldest) if (this.#bytes > maxBytes) this.#drop(entry);
    }
  }

  #drop({ number, agent, name, server, socket, unixMs, bytes }: KeptEntry): void {
    this.#table.remove(number);
    this.#prepare(COUNT_DROPPED).run(agent, name, server, socket ?? null, unixMs);
    this.#bytes -= bytes;
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
const SHOWN = `number < ? AND unix_ms >= ? AND (? IS NULL OR kind = ?) AND ${ON_SERVER} ORDER BY number DESC LIMIT ?`;
const SURPLUS = "WHERE agent = ? ORDER BY number DESC LIMIT -1 OFFSET ?";
const SUMS = `SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'timeline'), 0) + 1 AS next,
  (SELECT coalesce(sum(bytes), 0) FROM timeline) AS bytes`;
const ADD = `INSERT OR IGNORE INTO timeline
  (number, agent, name, server, socket, kind, unix_ms, actor, text, options, outcome, mark, bytes)
  VALUES (@number, @agent, @name, @server, @socket, @kind, @unix_ms, @actor, @text, @options, @outcome, @mark, @bytes)`;
const COUNT_DROPPED = `INSERT INTO timeline_dropped (agent, name, server, socket, entries, until_unix_ms)
  VALUES (?, ?, ?, ?, 1, ?) ON CONFLICT (agent) DO UPDATE SET name = excluded.name, entries = entries + 1,
  until_unix_ms = max(until_unix_ms, excluded.until_unix_ms)`;
const DROPPED = `SELECT coalesce(sum(entries), 0) AS entries, coalesce(max(until_unix_ms), 0) AS untilUnixMs
  FROM timeline_dropped WHERE (? IS NULL OR agent = ? OR name = ?) AND ${ON_SERVER} AND until_unix_ms >= ?`;
