/**
 * What has to be sent, and what every agent did last, in the agents' database: neither a restart nor a crash of the daemon
 * loses a notification or sends it twice, as far as the receiver has confirmed it. A disk that is full ends nothing but the
 * record.
 */
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import { jsonOf, type Prepare, preparing, Table } from "../../../daemon/ops/sql/table.ts";
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

type Kept<Key extends string, Record> = { readonly [key in Key]: string } & { readonly record: Record };

export class NoticeStore {
  readonly #options: NoticeStoreOptions;
  readonly #notices: Table<Kept<"id", KeptNotice>>;
  readonly #seen: Table<Kept<"agent", LastSeen>>;
  #prepare: Prepare | undefined;

  constructor(options: NoticeStoreOptions) {
    this.#options = options;
    const prepare: Prepare = (sql) => (this.#prepare ??= preparing(options.database()))(sql);
    const decode = { record: jsonOf };
    this.#notices = new Table<Kept<"id", KeptNotice>>({ prepare, name: "notices", key: ["id"], decode });
    this.#seen = new Table<Kept<"agent", LastSeen>>({ prepare, name: "last_seen", key: ["agent"], decode });
  }

  /** The oldest first. */
  notices(): readonly KeptNotice[] {
    return (this.#use(() => this.#notices.all()) ?? [])
      .map(({ record }) => record)
      .toSorted((one, other) => one.notice.sinceUnixMs - other.notice.sinceUnixMs);
  }

  keep(record: KeptNotice): void {
    this.#use(() => this.#notices.save(this.#notices.rowOf({ id: record.notice.id, record })));
  }

  drop({ notice }: KeptNotice): void {
    this.#use(() => this.#notices.remove(notice.id));
  }

  /** By agent. */
  seen(): ReadonlyMap<string, LastSeen> {
    return new Map((this.#use(() => this.#seen.all()) ?? []).map(({ agent, record }) => [agent, record]));
  }

  see(agent: string, record: LastSeen): void {
    this.#use(() => this.#seen.save(this.#seen.rowOf({ agent, record })));
  }

  forget(agent: string): void {
    this.#use(() => this.#seen.remove(agent));
  }

  #use<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }
}
