/**
 * Messages on disk, in the agents' database (`agentStore.ts`): in the order in which they were told, each for one process. What is typed is
 * noted before its first byte, so that a daemon that was killed meanwhile knows what it has to find out.
 */
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
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
type Change = Partial<
  Pick<
    Message,
    | "outcome"
    | "reason"
    | "attempt"
    | "typedUnixMs"
    | "enteredUnixMs"
    | "wasShown"
    | "deliveredUnixMs"
    | "confirmedBy"
    | "doneUnixMs"
    | "lastWords"
  >
>;

interface Row {
  readonly number: number;
  readonly id: string;
  readonly agent: string;
  readonly agent_name: string;
  readonly process: string;
  readonly text: string;
  readonly urgency: Message["when"];
  readonly key: string | null;
  readonly request: string;
  readonly created_unix_ms: number;
  readonly expires_unix_ms: number;
  readonly outcome: MessageOutcome;
  readonly reason: string | null;
  readonly attempt: number;
  readonly typed_unix_ms: number | null;
  readonly entered_unix_ms: number | null;
  readonly was_shown: number;
  readonly delivered_unix_ms: number | null;
  readonly confirmed_by: MessageConfirmation | null;
  readonly done_unix_ms: number | null;
  readonly last_words: string | null;
}

export class MessageStore {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #nowUnixMs: () => number;
  #added = 0;

  constructor(database: Database, nowUnixMs: () => number) {
    this.#statements = prepare(database);
    this.#nowUnixMs = nowUnixMs;
  }

  /** @throws AppError RESOURCE_LIMIT */
  add(message: NewMessage): Message {
    const { add, waiting, expire, trim } = this.#statements;
    if (this.#added++ % SWEEP_EVERY === 0) {
      expire.run(this.#nowUnixMs() - KEPT_MS);
      trim.run(MAX_KEPT);
    }
    const { count, chars } = waiting.get(message.agent) as { readonly count: number; readonly chars: number | null };
    if (count >= MAX_WAITING_PER_AGENT || (chars ?? 0) + message.text.length > MAX_WAITING_CHARS) {
      throw new AppError("RESOURCE_LIMIT", "too many messages wait; cancel some, or wait until they are delivered");
    }
    const { id, agent, agentName, process, text, when, key, request, createdUnixMs, expiresUnixMs } = message;
    const mark = JSON.stringify(process);
    add.run(id, agent, agentName, mark, text, when, key ?? null, request, createdUnixMs, expiresUnixMs);
    return this.find(id)!;
  }

  find(id: string): Message | undefined {
    return decoded(this.#statements.find.get(id) as Row | undefined);
  }

  /** Told under this key to this agent, whatever its name was, or to the one that had its name. */
  keyed({ id, name }: Pick<RunningAgent, "id" | "name">, key: string): Message | undefined {
    return decoded(this.#statements.keyed.get(key, id, name) as Row | undefined);
  }

  /** All that are kept, or one agent's; the oldest first. */
  list(agent?: string): readonly Message[] {
    const { all, ofAgent } = this.#statements;
    return decodedAll(agent === undefined ? all.all() : ofAgent.all(agent));
  }

  /** Those that wait, and those whose turn is not over. */
  open(): readonly Message[] {
    return decodedAll(this.#statements.open.all());
  }

  /** Those that wait, and those that ended otherwise than delivered or cancelled. */
  undelivered(): readonly Message[] {
    return decodedAll(this.#statements.undelivered.all());
  }

  openOf(agent: string): readonly Message[] {
    return decodedAll(this.#statements.openOf.all(agent));
  }

  change(message: Message, change: Change): Message {
    const next = { ...message, ...change };
    this.#statements.change.run(
      next.outcome,
      next.reason ?? null,
      next.attempt,
      next.typedUnixMs ?? null,
      next.enteredUnixMs ?? null,
      next.wasShown ? 1 : 0,
      next.deliveredUnixMs ?? null,
      next.confirmedBy ?? null,
      next.doneUnixMs ?? null,
      next.lastWords ?? null,
      message.id,
    );
    return next;
  }
}

const OPEN = "(outcome = 'waiting' OR (outcome = 'delivered' AND done_unix_ms IS NULL))";

const prepare = (database: Database) => ({
  add: database.prepare(
    `INSERT INTO messages (id, agent, agent_name, process, text, urgency, key, request, created_unix_ms, expires_unix_ms,
       outcome, attempt) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'waiting', 1)`,
  ),
  change: database.prepare(
    `UPDATE messages SET outcome = ?, reason = ?, attempt = ?, typed_unix_ms = ?, entered_unix_ms = ?, was_shown = ?,
       delivered_unix_ms = ?, confirmed_by = ?, done_unix_ms = ?, last_words = ? WHERE id = ?`,
  ),
  find: database.prepare("SELECT * FROM messages WHERE id = ?"),
  keyed: database.prepare(
    "SELECT * FROM messages WHERE key = ? AND (agent = ? OR agent_name = ?) ORDER BY number DESC LIMIT 1",
  ),
  all: database.prepare("SELECT * FROM messages ORDER BY number"),
  ofAgent: database.prepare("SELECT * FROM messages WHERE agent = ? ORDER BY number"),
  open: database.prepare(`SELECT * FROM messages WHERE ${OPEN} ORDER BY number`),
  undelivered: database.prepare(
    "SELECT * FROM messages WHERE outcome NOT IN ('delivered', 'cancelled') ORDER BY number",
  ),
  openOf: database.prepare(`SELECT * FROM messages WHERE agent = ? AND ${OPEN} ORDER BY number`),
  waiting: database.prepare(
    `SELECT count(*) FILTER (WHERE agent = ?) AS count, sum(length(text)) AS chars FROM messages
       WHERE outcome = 'waiting'`,
  ),
  expire: database.prepare(`DELETE FROM messages WHERE NOT ${OPEN} AND created_unix_ms < ?`),
  trim: database.prepare(
    `DELETE FROM messages WHERE NOT ${OPEN} AND number <=
       (SELECT number FROM messages ORDER BY number DESC LIMIT 1 OFFSET ?)`,
  ),
});

function decoded(row: Row | undefined): Message | undefined {
  if (row === undefined) return undefined;
  return {
    number: row.number,
    id: row.id,
    agent: row.agent,
    agentName: row.agent_name,
    process: JSON.parse(row.process) as ProcessMark,
    text: row.text,
    when: row.urgency,
    key: row.key ?? undefined,
    request: row.request,
    createdUnixMs: row.created_unix_ms,
    expiresUnixMs: row.expires_unix_ms,
    outcome: row.outcome,
    reason: row.reason ?? undefined,
    attempt: row.attempt,
    typedUnixMs: row.typed_unix_ms ?? undefined,
    enteredUnixMs: row.entered_unix_ms ?? undefined,
    wasShown: row.was_shown !== 0,
    deliveredUnixMs: row.delivered_unix_ms ?? undefined,
    confirmedBy: row.confirmed_by ?? undefined,
    doneUnixMs: row.done_unix_ms ?? undefined,
    lastWords: row.last_words ?? undefined,
  };
}

const decodedAll = (rows: readonly unknown[]): readonly Message[] => rows.map((row) => decoded(row as Row)!);
