/**
 * Messages to agents: told once per key, kept on disk, typed by a queue per agent (`messageQueue.ts`); and waiting for what
 * becomes of a message or of an agent.
 */
import { createHash, randomBytes } from "node:crypto";
import { isRunning } from "../../../daemon/panes/foreground.ts";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import { requireSameRequest } from "../../../daemon/ops/once.ts";
import type { Delivery } from "../../../daemon/delivery/delivery.ts";
import { promptText } from "../../../daemon/delivery/prompt/promptText.ts";
import { Listeners } from "../../../daemon/servers/listeners.ts";
import type { Timed, Timer } from "../../../daemon/time/clock.ts";
import { untilAborted } from "../../../daemon/time/within.ts";
import type { WaitManager } from "../../../daemon/waits/waitManager.ts";
import type { AgentWaitName } from "../../../protocol/api/native/nativeAgentMessages.ts";
import { AppError, invalidArgument, shuttingDown, toAppError } from "../../../protocol/errors.ts";
import { stateOf } from "../running/agentState.ts";
import type { AgentDirectory } from "../running/agentDirectory.ts";
import type { RunningAgent } from "../running/runningAgent.ts";
import type { Transcripts } from "../start/transcripts.ts";
import { MessageQueue } from "./messageQueue.ts";
import { type Message, MessageStore } from "./messageStore.ts";

interface AgentMessagesOptions extends Timed {
  readonly agents: AgentDirectory;
  readonly delivery: Delivery;
  readonly waits: Pick<WaitManager, "wait">;
  readonly transcripts: Pick<Transcripts, "turn" | "lastWords">;
  readonly processes: HostProcesses;
  readonly onError: (error: unknown) => void;
}

interface Telling {
  readonly text: string;
  readonly when: Message["when"];
  readonly ttlSec: number;
}

interface Waiting {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface AgentWaiting extends Waiting {
  readonly for: readonly AgentWaitName[];
  readonly stalledSec: number;
}

export class AgentMessages {
  readonly #options: AgentMessagesOptions;
  readonly #queues = new Map<string, MessageQueue>();
  /** Of changes of messages and agents: those that wait for something. */
  readonly #listeners = new Set<() => void>();
  readonly #messageListeners: Listeners<void>;
  readonly #closing = new AbortController();
  readonly #unsubscribe: () => void;
  #settling: Timer | undefined;
  #store: MessageStore | undefined;

  constructor(options: AgentMessagesOptions) {
    this.#options = options;
    this.#messageListeners = new Listeners(options.onError);
    this.#unsubscribe = options.agents.subscribe(({ kind, agent }) => {
      if (kind === "appeared") this.#queueOf(agent.id);
      this.#queues.get(agent.id)?.look();
      this.#tell();
    });
  }

  /** Keeps the message until it is typed. @throws AppError WRONG_STATE, INVALID_ARGUMENT, ALREADY_EXISTS, RESOURCE_LIMIT */
  tell(agent: RunningAgent, { text, when, ttlSec }: Telling, key: string | undefined): Message {
    this.#closing.signal.throwIfAborted();
    const store = this.#messages();
    const prompt = promptText(text);
    const request = createHash("sha256").update(JSON.stringify({ prompt, when, ttlSec })).digest("hex");
    if (key !== undefined) {
      requireKey(key);
      const earlier = store.keyed(agent, key);
      if (earlier !== undefined) {
        requireSameRequest(earlier.request, request);
        return earlier;
      }
    }
    requireRunning(agent);
    const createdUnixMs = this.#options.nowUnixMs();
    const message = store.add({
      id: `msg-${randomBytes(9).toString("hex")}`,
      agent: agent.id,
      agentName: agent.name,
      process: agent.process,
      text: prompt,
      when,
      key,
      request,
      createdUnixMs,
      expiresUnixMs: createdUnixMs + ttlSec * 1_000,
    });
    this.#queueOf(agent.id).add(message);
    this.#messageChanged();
    return message;
  }

  /** @throws AppError NOT_FOUND */
  find(id: string): Message {
    const message = this.#messages().find(id);
    if (message !== undefined) return message;
    throw new AppError("NOT_FOUND", `there is no message ${JSON.stringify(id)}; run \`tmuxwire messages\``);
  }

  /** All that are kept, or an agent's; the oldest first. */
  list(agent?: RunningAgent): readonly Message[] {
    this.#endGone();
    return this.#messages().list(agent?.id);
  }

  /** @throws AppError NOT_FOUND, WRONG_STATE: it does not wait any more, or is being typed */
  cancel(id: string): Message {
    const message = this.find(id);
    const { outcome, agent } = message;
    if (outcome !== "waiting") {
      throw new AppError("WRONG_STATE", `the message is ${outcome}; only one that waits can be cancelled`, {
        details: { outcome },
      });
    }
    const isTyped = message.typedUnixMs !== undefined;
    if (isTyped || this.#queues.get(agent)?.withdraw(message) === false) {
      throw new AppError("WRONG_STATE", "the message is being typed; look what became of it", {
        details: { outcome, reason: "being_typed" },
      });
    }
    const cancelled = this.#messages().change(message, { outcome: "cancelled", reason: "it was cancelled" });
    this.#queues.get(agent)?.look();
    this.#messageChanged();
    return cancelled;
  }

  /**
   * Those that wait, and those of the last day that ended otherwise than delivered or cancelled, by the agent's id.
   * @param agent the only one whose messages are wanted
   */
  undelivered(agent?: string): ReadonlyMap<string, readonly Message[]> {
    const byAgent = new Map<string, Message[]>();
    for (const message of this.#messages().undelivered(agent)) {
      const those = byAgent.get(message.agent);
      if (those === undefined) byAgent.set(message.agent, [message]);
      else those.push(message);
    }
    return byAgent;
  }

  /** Those that wait for an agent and are not being typed. */
  waitingFor(agent: RunningAgent): readonly Message[] {
    return this.#messages()
      .openOf(agent.id)
      .filter(({ outcome, typedUnixMs }) => outcome === "waiting" && typedUnixMs === undefined);
  }

  /** Called a moment after messages have changed: they do so in bursts, and all are read then. Returns the unsubscribe function. */
  onChange(listener: () => void): () => void {
    return this.#messageListeners.subscribe(listener);
  }

  /** Nothing more is typed for the agent until the returned function is called. */
  hold(agent: RunningAgent): () => void {
    return this.#queueOf(agent.id).hold();
  }

  /** Somebody ends it. */
  isHeld({ id }: RunningAgent): boolean {
    return this.#queues.get(id)?.isHeld === true;
  }

  /**
   * Until the message was typed or will not be (`taken`), or the turn that it began is over (`done`).
   * @param isAsked given: also when the agent has a question open
   * @throws AppError TIMEOUT, SHUTTING_DOWN; the signal's reason
   */
  settled(
    { id }: Message,
    until: "taken" | "done",
    agent: RunningAgent,
    { orAsking, ...waiting }: Waiting & { readonly orAsking: boolean },
  ): Promise<Message> {
    return this.#until(waiting, () => {
      const message = this.find(id);
      const isOver = until === "taken" || message.outcome !== "delivered" || message.doneUnixMs !== undefined;
      if (message.outcome !== "waiting" && isOver) return message;
      return orAsking && stateOf(agent).state === "asking" ? message : undefined;
    });
  }

  /** Until the first of what is asked for holds. @throws AppError TIMEOUT, WRONG_STATE, SHUTTING_DOWN; the signal's reason */
  async reached(agent: RunningAgent, { for: wanted, stalledSec, ...waiting }: AgentWaiting): Promise<AgentWaitName> {
    const asked = new Set(wanted);
    if (agent.endedUnixMs === undefined) await this.#options.agents.probe(agent).catch(unlessGone);
    const isStalled = { value: false };
    const left = new AbortController();
    if (asked.has("stalled")) void this.#watchStall(agent, stalledSec, isStalled, left.signal);
    try {
      return await this.#until(waiting, () => {
        const { state } = stateOf(agent);
        if (state === "ended") {
          if (asked.has("ended")) return "ended";
          throw ended(agent);
        }
        if (state === "asking" && asked.has("asking")) return "asking";
        if (state === "busy" && isStalled.value) return "stalled";
        if (state !== "ready") return undefined;
        if (asked.has("ready")) return "ready";
        return asked.has("done") && this.#messages().openOf(agent.id).length === 0 ? "done" : undefined;
      });
    } finally {
      left.abort();
    }
  }

  /** Its last words, as far as its conversation or its hooks tell them. */
  async lastWords(agent: RunningAgent): Promise<string | undefined> {
    const words = agent.endedUnixMs === undefined ? await this.#options.transcripts.lastWords(agent) : undefined;
    return words ?? agent.lastMessage;
  }

  /** Settles every wait; what waits on disk stays. Safe to call twice. */
  close(): void {
    if (this.#closing.signal.aborted) return;
    this.#unsubscribe();
    this.#settling?.cancel();
    for (const queue of this.#queues.values()) queue.close();
    this.#closing.abort(shuttingDown());
  }

  #messages(): MessageStore {
    return (this.#store ??= new MessageStore(this.#options.agents.database, this.#options.nowUnixMs));
  }

  #queueOf(agent: string): MessageQueue {
    const known = this.#queues.get(agent);
    if (known !== undefined) return known;
    const queue = new MessageQueue(agent, {
      ...this.#options,
      store: this.#messages(),
      onChange: () => this.#messageChanged(),
      onEnd: () => void this.#queues.delete(agent),
    });
    this.#queues.set(agent, queue);
    return queue;
  }

  /** Messages for agents that ended while no daemon ran. */
  #endGone(): void {
    const { agents, processes, nowUnixMs } = this.#options;
    const store = this.#messages();
    for (const message of store.open()) {
      if (agents.known(message.agent) !== undefined || isRunning(message.process, processes)) continue;
      const isTyped = message.typedUnixMs !== undefined;
      if (message.outcome === "delivered") store.change(message, { doneUnixMs: nowUnixMs() });
      else store.change(message, { outcome: isTyped ? "unknown" : "agent_ended", reason: "the agent ended" });
    }
  }

  /** Notes when nothing has come from the agent for so long while it is busy. */
  async #watchStall(
    agent: RunningAgent,
    stalledSec: number,
    isStalled: { value: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const { waits, nowUnixMs } = this.#options;
    try {
      while (!signal.aborted && agent.endedUnixMs === undefined) {
        const source = agent.server.output(agent.pane);
        await waits.wait(source, { stableSec: stalledSec, timeoutMs: MAX_STALL_WAIT_MS }, { signal });
        const { state, sinceUnixMs } = stateOf(agent);
        isStalled.value = state === "busy" && nowUnixMs() - (sinceUnixMs ?? 0) >= stalledSec * 1_000;
        this.#tell();
        if (isStalled.value) return undefined;
      }
    } catch (error) {
      // Its output never rested, tmux is being reconnected, it has gone, or its caller has.
      const { code } = toAppError(error);
      if (signal.aborted || code === "NOT_FOUND") return undefined;
      if (code !== "TIMEOUT" && code !== "CONNECTION_LOST") return this.#options.onError(error);
      // It is judged anew once tmux is back.
      if (code === "CONNECTION_LOST") await this.#nextChange(signal);
      return this.#watchStall(agent, stalledSec, isStalled, signal);
    }
    return undefined;
  }

  #messageChanged(): void {
    const { clock } = this.#options;
    this.#tell();
    if (this.#messageListeners.count === 0 || this.#closing.signal.aborted) return;
    this.#settling ??= clock.callAt(clock.nowMs() + SETTLE_MS, () => {
      this.#settling = undefined;
      this.#messageListeners.emit();
    });
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Also when the signal aborts. */
  #nextChange(signal: AbortSignal): Promise<void> {
    return untilAborted<void>(signal, (resolve) => this.#listen(resolve)).catch(() => undefined);
  }

  /** Looks at every change. */
  #until<Result>({ timeoutMs, signal }: Waiting, look: () => Result | undefined): Promise<Result> {
    const { clock } = this.#options;
    const leaving = signal === undefined ? this.#closing.signal : AbortSignal.any([this.#closing.signal, signal]);
    return untilAborted(leaving, (resolve, reject) => {
      const listener = (): void => {
        try {
          const result = look();
          if (result !== undefined) resolve(result);
        } catch (error) {
          reject(error);
        }
      };
      const timer = clock.callAt(clock.nowMs() + timeoutMs, () => reject(timedOut(timeoutMs)));
      const unlisten = this.#listen(listener);
      listener();
      return () => {
        timer.cancel();
        unlisten();
      };
    });
  }

  #listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Changes of messages that come within this are told together. */
const SETTLE_MS = 50;
/** Shorter than what waits may last. */
const MAX_STALL_WAIT_MS = 3_600_000;
const MAX_KEY_CHARS = 255;

const timedOut = (timeoutMs: number): AppError =>
  new AppError("TIMEOUT", `timed out after ${timeoutMs / 1_000} s; wait again, or look at the agent`);

const ended = ({ name, id }: RunningAgent): AppError =>
  new AppError("WRONG_STATE", `the agent ${JSON.stringify(name)} has ended; run \`tmuxwire agents\``, {
    details: { state: "ended", reason: "agent_ended", agent: id },
  });

/** @throws AppError WRONG_STATE */
export function requireRunning(agent: RunningAgent): void {
  if (agent.endedUnixMs !== undefined) throw ended(agent);
}

function unlessGone(error: unknown): void {
  if (toAppError(error).code !== "NOT_FOUND") throw error;
}

function requireKey(key: string): void {
  if (key.length > 0 && key.length <= MAX_KEY_CHARS) return;
  throw invalidArgument(`an idempotency key has 1 to ${MAX_KEY_CHARS} characters`);
}
