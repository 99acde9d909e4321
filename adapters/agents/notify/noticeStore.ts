/**
 * What has to be sent, and what every agent did last, in the agents' database: neither a restart nor a crash of the daemon
 * loses a notification or sends it twice, as far as the receiver has confirmed it. A disk that is full ends nothing but the
 * record.
 */
import type { Database, Statement } from "../../../daemon/ops/sql/sqlite.ts";
import type { Notice } from "./notices.ts";

/** What becomes of a notice on one channel. */
export interface Sending {
  /** `taking back`: it was sent, and is not true any more. */
  readonly state: "waiting" | "sent" | "taking back";
  /** Unix time in milliseconds. */
  readonly dueUnixMs: number;
  /** What the channel calls it. */
  readonly reference?: string | undefined;
}

export interface KeptNotice {
  readonly notice: Notice;
  /** By channel. One that is over has none. */
  readonly sendings: Readonly<Record<string, Sending>>;
  /** What a button answers. */
  readonly note?: string | undefined;
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

interface NoticeStoreOptions {
  /** Opened when it is first needed. */
  readonly database: () => Database;
  readonly onError: (error: unknown) => void;
}

export class NoticeStore {
  readonly #options: NoticeStoreOptions;
  #statements: ReturnType<typeof prepare> | undefined;

  constructor(options: NoticeStoreOptions) {
    this.#options = options;
  }

  /** The oldest first. */
  notices(): readonly KeptNotice[] {
    const rows = this.#use(({ notices }) => notices.all()) ?? [];
    return rows
      .map((row) => JSON.parse((row as Row).record) as KeptNotice)
      .toSorted((one, other) => one.notice.sinceUnixMs - other.notice.sinceUnixMs);
  }

  keep(kept: KeptNotice): void {
    this.#use(({ keep }) => keep.run(kept.notice.id, JSON.stringify(kept)));
  }

  drop({ notice }: KeptNotice): void {
    this.#use(({ drop }) => drop.run(notice.id));
  }

  /** By agent. */
  seen(): ReadonlyMap<string, LastSeen> {
    const rows = (this.#use(({ seen }) => seen.all()) ?? []) as unknown as readonly (Row & { agent: string })[];
    return new Map(rows.map(({ agent, record }) => [agent, JSON.parse(record) as LastSeen]));
  }

  see(agent: string, seen: LastSeen): void {
    this.#use(({ see }) => see.run(agent, JSON.stringify(seen)));
  }

  forget(agent: string): void {
    this.#use(({ forget }) => forget.run(agent));
  }

  #use<Result>(work: (statements: ReturnType<typeof prepare>) => Result): Result | undefined {
    try {
      return work((this.#statements ??= prepare(this.#options.database())));
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
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
  }) satisfies Record<string, Statement>;
