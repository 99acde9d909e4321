/**
 * What has to be sent, and what every agent did last, in the agents' database: neither a restart nor a crash of the daemon
 * loses a notification or sends it twice, as far as the receiver has confirmed it.
 */
import type { Database, Statement } from "../../../daemon/ops/sqlite.ts";
import type { Notice } from "./notices.ts";

/** What becomes of a notice on one channel. */
export interface Sending {
  /** `taking back`: it was sent, and is not true any more. */
  readonly state: "waiting" | "sent" | "taking back";
  readonly tries: number;
  /** Unix time in milliseconds. */
  readonly dueUnixMs: number;
  /** What the channel calls it. */
  readonly reference?: string | undefined;
}

export interface KeptNotice {
  readonly notice: Notice;
  /** By channel. One that is over has none. */
  readonly sendings: Readonly<Record<string, Sending>>;
}

/** What an agent was last seen to do. */
export interface LastSeen {
  readonly state: "ready" | "busy" | "asking";
  /** The id of its question's dialog, once that was read. */
  readonly dialog?: string | undefined;
  readonly name: string;
  readonly program: string;
  readonly project: string | undefined;
}

export class NoticeStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(database: Database) {
    this.#statements = prepare(database);
  }

  notices(): readonly KeptNotice[] {
    return this.#statements.notices.all().map((row) => JSON.parse((row as Row).record) as KeptNotice);
  }

  keep(kept: KeptNotice): void {
    this.#statements.keep.run(kept.notice.id, JSON.stringify(kept));
  }

  drop({ notice }: KeptNotice): void {
    this.#statements.drop.run(notice.id);
  }

  /** By agent. */
  seen(): ReadonlyMap<string, LastSeen> {
    const rows = this.#statements.seen.all() as unknown as readonly (Row & { readonly agent: string })[];
    return new Map(rows.map(({ agent, record }) => [agent, JSON.parse(record) as LastSeen]));
  }

  see(agent: string, seen: LastSeen): void {
    this.#statements.see.run(agent, JSON.stringify(seen));
  }

  forget(agent: string): void {
    this.#statements.forget.run(agent);
  }

  /** When there is no channel any more. */
  clear(): void {
    this.#statements.clearNotices.run();
    this.#statements.clearSeen.run();
  }
}

interface Row {
  readonly record: string;
}

const prepare = (database: Database) =>
  ({
    notices: database.prepare("SELECT record FROM notices"),
    keep: database.prepare(
      "INSERT INTO notices (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record",
    ),
    drop: database.prepare("DELETE FROM notices WHERE id = ?"),
    seen: database.prepare("SELECT agent, record FROM last_seen"),
    see: database.prepare(
      "INSERT INTO last_seen (agent, record) VALUES (?, ?) ON CONFLICT (agent) DO UPDATE SET record = excluded.record",
    ),
    forget: database.prepare("DELETE FROM last_seen WHERE agent = ?"),
    clearNotices: database.prepare("DELETE FROM notices"),
    clearSeen: database.prepare("DELETE FROM last_seen"),
  }) satisfies Record<string, Statement>;
