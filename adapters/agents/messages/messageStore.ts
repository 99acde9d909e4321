/**
 * Messages on disk, in the agents' database (`agentStore.ts`): in the order in which they were told, each for one process. What is typed is
 * noted before its first byte, so that a daemon that was killed meanwhile knows what it has to find out.
 */
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import { jsonOf, type Prepare, preparing, Table } from "../../../daemon/ops/sql/table.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { MessageConfirmation, MessageOutcome } from "../../../protocol/api/native/nativeAgentMessages.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { RunningAgent } from "../running/runningAgent.ts";

/** How long one that has ended can be asked for: as long as a delivery's key. */
const KEPT_MS = 86_400_000;
const MAX_KEPT = 10_000;
/** Old ones are swept at the first and at every so many messages. */
const SWEEP_EVERY = 100;
/** A queue longer than this is a mistake of whoever fills it. */
const MAX_WAITING_PER_AGENT = 1_000;
/** Of the texts of all that wait, in characters. */
const MAX_WAITING_CHARS = 67_108_864;

export interface Message {
  /** The order in which they were told. */
  readonly number: number;
  readonly id: string;
  /** Of the process that it is for. */
  readonly agent: string;
  /** When it was told. */
  readonly agentName: string;
  readonly process: ProcessMark;
  readonly text: string;
  readonly when: "idle" | "now";
  readonly key: string | undefined;
  /** What the key was given to. */
  readonly request: string;
  readonly createdUnixMs: number;
  readonly expiresUnixMs: number;
  readonly outcome: MessageOutcome;
  readonly reason: string | undefined;
  /** From 1; the one before is known not to have been taken. */
  readonly attempt: number;
  /** The first byte of this attempt; undefined: nothing was typed. */
  readonly typedUnixMs: number | undefined;
  /** Enter of this attempt; undefined: it was not pressed, so only a person can have entered the text. */
  readonly enteredUnixMs: number | undefined;
  /** The same text stood above the box before it was typed: that it stands there proves nothing. */
  readonly wasShown: boolean;
  readonly deliveredUnixMs: number | undefined;
  readonly confirmedBy: MessageConfirmation | undefined;
  /** The end of the turn that it began, or of the agent. */
  readonly doneUnixMs: number | undefined;
  /** Foreign text. */
  readonly lastWords: string | undefined;
}

type NewMessage = Pick<
  Message,
  "id" | "agent" | "agentName" | "process" | "text" | "when" | "key" | "request" | "createdUnixMs" | "expiresUnixMs"
>;
/** What is known of it once it is told. */
const CHANGING = [
  "outcome",
  "reason",
  "attempt",
  "typedUnixMs",
  "enteredUnixMs",
  "wasShown",
  "deliveredUnixMs",
  "confirmedBy",
  "doneUnixMs",
  "lastWords",
] as const;
type Change = Partial<Pick<Message, (typeof CHANGING)[number]>>;

export class MessageStore {
  readonly #prepare: Prepare;
  readonly #table: Table<Message>;
  readonly #nowUnixMs: () => number;
  #added = 0;

  constructor(database: Database, nowUnixMs: () => number) {
    this.#prepare = preparing(database);
    this.#table = new Table<Message>({
      prepare: this.#prepare,
      name: "messages",
      key: ["id"],
      columns: { when: "urgency" },
      decode: { process: jsonOf, wasShown: (cell) => cell !== 0 },
    });
    this.#nowUnixMs = nowUnixMs;
  }

  /** @throws AppError RESOURCE_LIMIT */
  add(message: NewMessage): Message {
    if (this.#added++ % SWEEP_EVERY === 0) {
      this.#prepare(EXPIRE).run(this.#nowUnixMs() - KEPT_MS);
      this.#prepare(TRIM).run(MAX_KEPT);
    }
    const waiting: unknown = this.#prepare(WAITING).get(message.agent);
    const { count, chars } = waiting as { readonly count: number; readonly chars: number | null };
    if (count >= MAX_WAITING_PER_AGENT || (chars ?? 0) + message.text.length > MAX_WAITING_CHARS) {
      throw new AppError("RESOURCE_LIMIT", "too many messages wait; cancel some, or wait until they are delivered");
    }
    const { id, agent, agentName, process, text, when, key, request, createdUnixMs, expiresUnixMs } = message;
    const given = { id, agent, agentName, process, text, when, key, request, createdUnixMs, expiresUnixMs };
    this.#table.save(this.#table.rowOf({ ...given, outcome: "waiting", attempt: 1 }));
    return this.find(id)!;
  }

  find(id: string): Message | undefined {
    return this.#table.first("WHERE id = ?", id);
  }

  /** Told under this key to this agent, whatever its name was, or to the one that had its name. */
  keyed({ id, name }: Pick<RunningAgent, "id" | "name">, key: string): Message | undefined {
    const where = "WHERE key = ? AND (agent = ? OR agent_name = ?) ORDER BY number DESC LIMIT 1";
    return this.#table.first(where, key, id, name);
  }

  /** All that are kept, or one agent's; the oldest first. */
  list(agent?: string): readonly Message[] {
    if (agent === undefined) return this.#table.all("ORDER BY number");
    return this.#table.all("WHERE agent = ? ORDER BY number", agent);
  }

  /** Those that wait, and those whose turn is not over. */
  open(): readonly Message[] {
    return this.#table.all(`WHERE ${OPEN} ORDER BY number`);
  }

  /** Those that wait, and those that ended otherwise than delivered or cancelled. */
  undelivered(agent?: string): readonly Message[] {
    const those = "outcome NOT IN ('delivered', 'cancelled') ORDER BY number";
    return agent === undefined
      ? this.#table.all(`WHERE ${those}`)
      : this.#table.all(`WHERE agent = ? AND ${those}`, agent);
  }

  openOf(agent: string): readonly Message[] {
    return this.#table.all(`WHERE agent = ? AND ${OPEN} ORDER BY number`, agent);
  }

  change(message: Message, change: Change): Message {
    const next = { ...message, ...change };
    const changing = Object.fromEntries(CHANGING.map((member) => [member, next[member]]));
    this.#table.update(this.#table.rowOf({ id: message.id, ...changing }));
    return next;
  }
}

const OPEN = "(outcome = 'waiting' OR (outcome = 'delivered' AND done_unix_ms IS NULL))";

const WAITING = `SELECT count(*) FILTER (WHERE agent = ?) AS count, sum(length(text)) AS chars FROM messages
  WHERE outcome = 'waiting'`;
const EXPIRE = `DELETE FROM messages WHERE NOT ${OPEN} AND created_unix_ms < ?`;
const TRIM = `DELETE FROM messages WHERE NOT ${OPEN} AND number <=
  (SELECT number FROM messages ORDER BY number DESC LIMIT 1 OFFSET ?)`;
