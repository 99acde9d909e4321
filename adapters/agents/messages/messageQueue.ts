/**
 * The messages of one agent: typed in their order, each once, while the agent takes a prompt and nobody types. One step at a
 * time, woken by what the directory tells of the agent and by deadlines; nothing is polled.
 *
 * A message's first byte is noted on disk before it is written, so is Enter, and its delivery has the message's id as its
 * key. Whatever ends in between (we are killed, tmux goes, the program draws nothing) leaves a message that is *typed and
 * undecided*: it is decided by what the delivery's own record, the agent's conversation and its screen say. Only what is
 * known not to have been taken is typed again: text for which Enter was never pressed. Once it was, a box that holds the text,
 * or is empty, proves nothing: a program that gets no time reads Enter later. What cannot be known is `unknown`, and is never
 * repeated.
 *
 * A delivered message has begun a *turn*, which is over when the agent has been seen at work and takes a prompt again. The
 * next message waits for that.
 */
import type { Delivery, SubmitRequest, SubmitResult } from "../../../daemon/delivery/delivery.ts";
import type { AddresseeRequest } from "../../../daemon/delivery/pane/addressee.ts";
import type { ReadinessState } from "../../../daemon/readiness/readiness.ts";
import { Changes } from "../../../daemon/time/changes.ts";
import type { Timed, Timer } from "../../../daemon/time/clock.ts";
import type { MessageConfirmation } from "../../../protocol/api/native/nativeAgentMessages.ts";
import { AppError, type ErrorCode, isCutShort, toAppError } from "../../../protocol/errors.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import { hasTask, type RunningAgent } from "../running/runningAgent.ts";
import type { Transcripts } from "../start/transcripts.ts";
import type { Message, MessageStore } from "./messageStore.ts";

/** One attempt: a person who types is waited for that long, then the agent is looked at anew. */
const PATIENCE_MS = 120_000;
/** After a refusal although the agent counts as ready: twice as long each time. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;
/** A turn that nobody has seen begin is over if the agent takes a prompt this long after it took the last. */
const UNSEEN_TURN_MS = 5_000;
/** A conversation is written to disk within this of what the screen shows. */
const WRITTEN_WITHIN_MS = 3_000;
/** A program that gets no time on a busy machine takes up what was entered within this, if ever. */
const TAKEN_WITHIN_MS = 30_000;
/** Its last words are, too: a turn that was interrupted has none. */
const WORDS_WITHIN_MS = 1_000;
/** What is typed so often and never taken is refused. */
const MAX_ATTEMPTS = 5;
/** Of an agent's last words. */
const MAX_WORDS_CHARS = 32_768;
/** Without anything that is due sooner. */
const LATEST_LOOK_MS = 3_600_000;

interface QueueParts extends Timed {
  readonly agents: Pick<AgentDirectory, "known" | "note" | "probe" | "taken">;
  readonly delivery: Pick<Delivery, "submit" | "look" | "clear">;
  readonly transcripts: Pick<Transcripts, "turn">;
  readonly store: MessageStore;
  readonly onChange: (message: Message) => void;
  /** The agent has ended, and nothing is left. */
  readonly onEnd: () => void;
  readonly onError: (error: unknown) => void;
}

/** Why an attempt ends before its first byte. */
class Withdrawal extends Error {
  readonly why: "cancelled" | "expired" | "overtaken";

  constructor(why: Withdrawal["why"]) {
    super(why);
    this.why = why;
  }
}

interface Attempt {
  readonly id: string;
  readonly withdrawn: AbortController;
  isTyping: boolean;
}

export class MessageQueue {
  readonly #agent: string;
  readonly #parts: QueueParts;
  /** Told to this daemon: a message for now that an earlier one left is too late. */
  readonly #fresh = new Set<string>();
  #attempt: Attempt | undefined;
  #isRunning = false;
  #isClosed = false;
  /** Nothing is typed meanwhile: the agent is being ended. */
  #holds = 0;
  readonly #changes = new Changes();
  #expiry: Timer | undefined;
  #retryAtMs = -Infinity;
  #retryMs = RETRY_MS;
  #state: ReadinessState | undefined;
  /** It was seen at work since the last first byte; true for what an earlier daemon has typed. */
  #hasWorked = true;
  /** Before the last first byte. */
  #wordsBefore: string | undefined;

  constructor(agent: string, parts: QueueParts) {
    this.#agent = agent;
    this.#parts = parts;
  }

  /** A message was told. */
  add(message: Message): void {
    this.#fresh.add(message.id);
    if (message.when === "now" && this.#attempt?.isTyping === false) {
      this.#attempt.withdrawn.abort(new Withdrawal("overtaken"));
    }
    if (!this.#isClosed) this.#expire();
    this.look();
  }

  /** Something has changed. */
  look(): void {
    const state = this.#parts.agents.known(this.#agent)?.readiness?.state;
    if (state === "busy" || state === "asking") this.#hasWorked = true;
    if (state !== this.#state) this.#retryAtMs = -Infinity;
    this.#state = state;
    this.#changes.changed();
    if (!this.#isRunning && !this.#isClosed) void this.#run();
  }

  /** False once its first byte is on its way. */
  withdraw({ id }: Message): boolean {
    if (this.#attempt?.id !== id) return true;
    if (this.#attempt.isTyping) return false;
    this.#attempt.withdrawn.abort(new Withdrawal("cancelled"));
    return true;
  }

  /** Types nothing more until the returned function is called; what is being typed goes on. */
  hold(): () => void {
    this.#holds += 1;
    if (this.#attempt?.isTyping === false) this.#attempt.withdrawn.abort(new Withdrawal("overtaken"));
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      this.look();
    };
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** What is being typed goes on with the delivery engine; the next daemon finds out what became of it. */
  close(): void {
    this.#isClosed = true;
    this.#expiry?.cancel();
    this.#changes.changed();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (!this.#isClosed) {
      const known = this.#changes.count;
      const dueMs = await this.#step().catch((error: unknown) => {
        if (!this.#isClosed && !isCutShort(error)) this.#parts.onError(error);
        return this.#later();
      });
      if (dueMs === undefined && known === this.#changes.count) break;
      if (dueMs !== undefined && !this.#isClosed) await this.#changes.next(known, this.#parts.clock, dueMs);
    }
    this.#isRunning = false;
    if (this.#parts.agents.known(this.#agent)?.endedUnixMs !== undefined) this.#parts.onEnd();
  }

  /** Does what is due, and returns when to look again at the latest (of the clock); undefined: nothing is left. */
  async #step(): Promise<number | undefined> {
    const { agents, store, clock } = this.#parts;
    const open = store.openOf(this.#agent);
    if (open.length === 0) return undefined;
    const agent = agents.known(this.#agent);
    const nowMs = clock.nowMs();
    if (agent === undefined) return nowMs + LATEST_LOOK_MS;
    if (agent.endedUnixMs !== undefined) {
      for (const message of open) this.#agentEnded(message, agent.endedUnixMs);
      return undefined;
    }
    const waiting = open.filter((message) => message.outcome === "waiting" && !this.#isExpired(message));
    const undecided = waiting.find(({ typedUnixMs }) => typedUnixMs !== undefined);
    if (undecided !== undefined) {
      if (!this.#isDue) return this.#retryAtMs;
      const due = await this.#decide(agent, undecided);
      return due ?? nowMs;
    }
    this.#expire();
    const lookMs = nowMs + LATEST_LOOK_MS;
    if (this.#holds > 0) return lookMs;
    const urgent = waiting.find(({ when }) => when === "now");
    if (urgent !== undefined) return (await this.#urgent(agent, urgent)) ?? nowMs;
    const turns = open.filter(({ outcome }) => outcome === "delivered");
    if (turns.length > 0) {
      const due = await this.#endTurns(agent, turns);
      if (due === undefined) return nowMs;
      for (const message of waiting) this.#waits(message, WHY_TURN);
      return Math.min(due, lookMs);
    }
    const [head, ...others] = waiting;
    if (head === undefined) return undefined;
    for (const message of others) this.#waits(message, "messages before it wait");
    const state = agent.readiness?.state ?? "unknown";
    if (state !== "idle") {
      this.#waits(head, WHY_WAITING[state]);
      return lookMs;
    }
    if (!this.#isDue) return Math.min(this.#retryAtMs, lookMs);
    return (await this.#deliver(agent, head)) ?? nowMs;
  }

  /** Also while another one is being delivered; wakes itself for the next one that expires. */
  #expire(): void {
    this.#expiry?.cancel();
    this.#expiry = undefined;
    if (this.#isClosed) return;
    const { store, clock, nowUnixMs } = this.#parts;
    const waiting = store.openOf(this.#agent).filter(({ outcome, typedUnixMs }) => {
      return outcome === "waiting" && typedUnixMs === undefined;
    });
    for (const message of waiting.filter((each) => this.#isExpired(each))) {
      if (this.#attempt?.id === message.id) this.#attempt.withdrawn.abort(new Withdrawal("expired"));
      const why = message.reason === undefined ? "" : `: ${message.reason}`;
      this.#change(message, { outcome: "expired", reason: `it was not typed in time${why}` });
    }
    const next = Math.min(...waiting.filter((each) => !this.#isExpired(each)).map((each) => each.expiresUnixMs));
    if (next === Infinity) return;
    this.#expiry = clock.callAt(clock.nowMs() + next - nowUnixMs(), () => {
      this.#expire();
      this.look();
    });
  }

  #isExpired({ typedUnixMs, expiresUnixMs }: Message): boolean {
    return typedUnixMs === undefined && expiresUnixMs <= this.#parts.nowUnixMs();
  }

  /** To be typed at once, also into the queue of a program that has one. */
  async #urgent(agent: RunningAgent, message: Message): Promise<number | undefined> {
    if (this.#fresh.has(message.id)) return this.#deliver(agent, message);
    this.#change(message, { outcome: "refused", reason: "the daemon ended before it was typed" });
    return undefined;
  }

  /** Returns when to try again; undefined: at once. */
  async #deliver(agent: RunningAgent, message: Message): Promise<number | undefined> {
    const { delivery, nowUnixMs, agents } = this.#parts;
    const attempt: Attempt = { id: message.id, withdrawn: new AbortController(), isTyping: false };
    this.#attempt = attempt;
    try {
      const { shows: wasShown } = await delivery.look({ server: agent.server, pane: agent.pane, text: message.text });
      const result = await delivery.submit({
        ...requestOf(agent, message),
        withdrawn: attempt.withdrawn.signal,
        onStage: (stage) => {
          if (this.#isClosed) throw new AppError("SHUTTING_DOWN", "the daemon is stopping");
          if (stage === "held") return this.#waits(message, "somebody's text stands in its box");
          if (this.#now(message).outcome !== "waiting") throw new Withdrawal("cancelled");
          if (stage === "entering") return this.#change(message, { enteredUnixMs: nowUnixMs() });
          attempt.isTyping = true;
          this.#hasWorked = false;
          this.#wordsBefore = agents.known(agent.id)?.lastMessage;
          return this.#change(message, { typedUnixMs: nowUnixMs(), wasShown, reason: undefined });
        },
      });
      return await this.#delivered(agent, this.#now(message), result);
    } catch (error) {
      return await this.#failed(agent, this.#now(message), error);
    } finally {
      this.#attempt = undefined;
    }
  }

  async #delivered(agent: RunningAgent, message: Message, result: SubmitResult): Promise<number | undefined> {
    const { outcome, confirmedBy } = result;
    if (outcome === "submitted" || outcome === "queued") {
      if (confirmedBy === "readiness") this.#hasWorked = true;
      this.#take(agent, message, outcome === "queued" ? "queued" : (confirmedBy ?? "screen"));
      return undefined;
    }
    // The delivery was begun in the turn in which we note the first byte: without the note, we ended before it.
    if (message.typedUnixMs === undefined) return this.#again(message);
    return this.#judge(agent, message, outcome);
  }

  async #failed(agent: RunningAgent, message: Message, error: unknown): Promise<number | undefined> {
    if (this.#isClosed) return this.#later();
    if (message.typedUnixMs !== undefined) {
      const recalled = await this.#recall(agent, message);
      if (recalled !== "nothing") return this.#judge(agent, message, "written");
      this.#change(message, { typedUnixMs: undefined });
    }
    if (error instanceof Withdrawal) return undefined;
    const { code, message: reason } = toAppError(error);
    if (message.when === "now" || !HEALS.has(code)) {
      this.#change(message, { outcome: "refused", reason });
      return undefined;
    }
    this.#waits(message, reason);
    return this.#later();
  }

  /** What became of a message that was typed: first by the delivery's own record. */
  async #decide(agent: RunningAgent, message: Message): Promise<number | undefined> {
    const recalled = await this.#recall(agent, message);
    if (recalled !== "nothing") {
      return recalled === "written"
        ? this.#judge(agent, message, "written")
        : this.#delivered(agent, message, recalled);
    }
    // Too old, or its file was lost: our own note says that it was typed.
    return this.#judge(agent, message, "written");
  }

  /** Asks for the delivery's record; a request that is withdrawn before it begins types nothing. */
  async #recall(agent: RunningAgent, message: Message): Promise<SubmitResult | "written" | "nothing"> {
    const withdrawn = AbortSignal.abort(new Withdrawal("overtaken"));
    try {
      return await this.#parts.delivery.submit({ ...requestOf(agent, message), withdrawn });
    } catch (error) {
      if (error instanceof Withdrawal) return "nothing";
      if (error instanceof AppError && error.details?.["repeated"] === true) return "written";
      throw error;
    }
  }

  /** What the agent's conversation and its screen say of a message that was typed. */
  async #judge(
    agent: RunningAgent,
    message: Message,
    outcome: SubmitResult["outcome"] | "written",
  ): Promise<number | undefined> {
    const { delivery, transcripts, clock, nowUnixMs } = this.#parts;
    const { server, pane } = agent;
    const { text, typedUnixMs = 0, wasShown } = message;
    const isEntered = message.enteredUnixMs !== undefined;
    const isTaken = (await transcripts.turn(agent, text, typedUnixMs))?.isTaken;
    const said = hasTask(agent, text, typedUnixMs);
    if (isTaken === true || said) return this.#take(agent, message, said ? "hook" : "transcript");
    const look = await delivery.look({ server, pane, text });
    if (look.holds && look.readiness.state === "idle" && !isEntered) {
      if (message.attempt >= MAX_ATTEMPTS) return this.#refuse(message, "it stays in the agent's box");
      const isEmpty = await delivery.clear(server, pane, { only: text, addressee: addresseeOf(agent) }).then(
        () => true,
        (error: unknown) => {
          if (!HEALS.has(toAppError(error).code)) throw error;
          return false;
        },
      );
      return isEmpty ? this.#again(message) : this.#later();
    }
    // Without its box the text that stands there may be in it.
    const isShownNow = look.shows && !look.holds && look.typed !== undefined;
    if (isTaken === undefined && isShownNow && !wasShown) return this.#take(agent, message, "screen");
    const settledUnixMs = typedUnixMs + (isEntered ? TAKEN_WITHIN_MS : WRITTEN_WITHIN_MS);
    // What an agent shows may come later than its state changes.
    if (nowUnixMs() < settledUnixMs && isEntered) return this.#later();
    if (nowUnixMs() < settledUnixMs) return this.#at(clock.nowMs() + settledUnixMs - nowUnixMs());
    const isLate = message.expiresUnixMs <= nowUnixMs();
    if (look.readiness.state !== "idle" && !isLate) return this.#later();
    if (outcome === "not_echoed") return this.#refuse(message, "its screen never showed it, so Enter was not pressed");
    if (isTaken === false && !isEntered && !look.shows && look.typed === "") {
      return message.attempt >= MAX_ATTEMPTS
        ? this.#refuse(message, "the agent does not take it")
        : this.#again(message);
    }
    this.#retryMs = RETRY_MS;
    this.#change(message, { outcome: "unknown", reason: look.holds ? WHY_STILL_THERE : WHY_UNKNOWN });
    return undefined;
  }

  /** Known not to have been taken. */
  #again(message: Message): undefined {
    const change = { attempt: message.attempt + 1, typedUnixMs: undefined, enteredUnixMs: undefined };
    if (message.when === "idle") this.#change(message, change);
    else this.#change(message, { ...change, outcome: "refused", reason: "the agent did not take it" });
  }

  #refuse(message: Message, reason: string): undefined {
    this.#change(message, { outcome: "refused", reason });
  }

  #take(agent: RunningAgent, message: Message, confirmedBy: MessageConfirmation): undefined {
    const { nowUnixMs, agents } = this.#parts;
    this.#retryMs = RETRY_MS;
    this.#change(message, { outcome: "delivered", reason: undefined, deliveredUnixMs: nowUnixMs(), confirmedBy });
    const sinceUnixMs = message.typedUnixMs ?? nowUnixMs();
    agents.taken(agent, {
      text: message.text,
      sinceUnixMs,
      by: "message",
      key: requestOf(agent, message).idempotencyKey,
    });
  }

  /** Returns when to look again; undefined: they are over. */
  async #endTurns(agent: RunningAgent, turns: readonly Message[]): Promise<number | undefined> {
    const { agents, clock, nowUnixMs, transcripts } = this.#parts;
    if (agent.readiness?.state !== "idle") return clock.nowMs() + LATEST_LOOK_MS;
    if ((await agents.probe(agent)).state !== "idle") return clock.nowMs() + LATEST_LOOK_MS;
    const last = turns.at(-1)!;
    const told = await transcripts.turn(agent, last.text, last.typedUnixMs ?? 0);
    if (told?.words === undefined) {
      const idleUnixMs = Math.max(agent.readiness.sinceUnixMs, last.deliveredUnixMs ?? 0);
      const isWritten = told?.isTaken === true;
      const overUnixMs = idleUnixMs + (!this.#hasWorked ? UNSEEN_TURN_MS : isWritten ? WORDS_WITHIN_MS : 0);
      if (nowUnixMs() < overUnixMs) return clock.nowMs() + overUnixMs - nowUnixMs();
    }
    const words = (told?.words ?? (await this.#shownWords(agent, last)))?.slice(-MAX_WORDS_CHARS);
    for (const turn of turns) this.#change(turn, { doneUnixMs: nowUnixMs(), lastWords: words });
    if (words !== undefined) agents.note(agent, { lastMessage: words });
    return undefined;
  }

  /** Its last words where its conversation does not have them: by a hook, or as its screen shows them. */
  async #shownWords(agent: RunningAgent, { text }: Message): Promise<string | undefined> {
    const { server, pane, lastMessage } = agent;
    if (lastMessage !== undefined && lastMessage !== this.#wordsBefore) return lastMessage;
    const { since } = await this.#parts.delivery.look({ server, pane, text });
    return since === "" ? undefined : since;
  }

  #agentEnded(message: Message, endedUnixMs: number): void {
    if (message.outcome === "delivered") this.#change(message, { doneUnixMs: endedUnixMs, reason: "the agent ended" });
    else if (message.typedUnixMs === undefined)
      this.#change(message, { outcome: "agent_ended", reason: "the agent ended" });
    else this.#change(message, { outcome: "unknown", reason: "the agent ended while it was typed" });
  }

  get #isDue(): boolean {
    return this.#parts.clock.nowMs() >= this.#retryAtMs;
  }

  #later(): number {
    const dueMs = this.#parts.clock.nowMs() + this.#retryMs;
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS);
    return this.#at(dueMs);
  }

  #at(dueMs: number): number {
    this.#retryAtMs = dueMs;
    return dueMs;
  }

  /** As it is on record now. */
  #now(message: Message): Message {
    return this.#isClosed ? message : (this.#parts.store.find(message.id) ?? message);
  }

  #waits(message: Message, reason: string): void {
    if (message.reason !== reason) this.#change(message, { reason });
  }

  #change(message: Message, change: Parameters<MessageStore["change"]>[1]): void {
    const now = this.#now(message);
    // Cancelled meanwhile.
    if (now.outcome !== message.outcome) return;
    this.#parts.onChange(this.#parts.store.change(now, change));
  }
}

/** The same for a message and attempt, whenever it is asked: the delivery's record has a hash of it. */
function requestOf(agent: RunningAgent, { id, attempt, text, when }: Message): SubmitRequest {
  const { server, pane } = agent;
  return {
    server,
    pane,
    text,
    whileBusy: when === "now" ? "queue" : "refuse",
    whileTyping: when === "now" ? "refuse" : "wait",
    addressee: addresseeOf(agent),
    timeoutMs: PATIENCE_MS,
    idempotencyKey: attempt === 1 ? id : `${id}.${attempt}`,
    by: "message",
  };
}

/** Whom everything is for that is typed: this process. */
export const addresseeOf = ({ process, kind }: RunningAgent): AddresseeRequest => ({
  isAgent: true,
  process,
  programs: new Set([kind.name]),
});

/** What time can heal. */
const HEALS: ReadonlySet<ErrorCode> = new Set([
  "WRONG_STATE",
  "TIMEOUT",
  "RESOURCE_LIMIT",
  "CONNECTION_LOST",
  "SHUTTING_DOWN",
  "NOT_FOUND",
  "INCONSISTENT_STATE",
]);

const WHY_UNKNOWN = "it was typed, and neither the agent's conversation nor its screen tells whether it was taken";
const WHY_STILL_THERE = "Enter was pressed, and it still stands in the agent's box; look at the pane";
const WHY_TURN = "the turn of the message before it is not over";
const WHY_WAITING: Readonly<Record<Exclude<ReadinessState, "idle">, string>> = {
  busy: "the agent is busy",
  asking: "the agent has a question open",
  starting: "the agent is starting",
  unknown: "nothing that is known of the agent is on its screen",
  dead: "the agent no longer reads from its pane",
};
