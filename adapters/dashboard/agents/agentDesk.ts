/**
 * Everything that happens to an agent: a prompt, a question, an answer, the end of a turn or of its session. Each changes
 * memory, hands the records to the store, and emits events in the contract's order (docs/contracts/dashboard.md §4), all in
 * one turn of the event loop.
 */
import type { Timed } from "../../../daemon/time/clock.ts";
import type { Waiting } from "../../../daemon/tmux/outputSource.ts";
import { MAX_EVENT_MESSAGE_CHARS, MAX_EVENT_TEXT_CHARS, MAX_EXPECTED_PROMPTS } from "../dashboardLimits.ts";
import type { DashboardEvents } from "../events/dashboardEvents.ts";
import type { DashboardStore } from "../store/store.ts";
import { type Agent, EMPTY_DIGEST, type LastDelivery, openTask, stateName, withTurn } from "./agent.ts";
import type { AgentBook } from "./agentBook.ts";
import { cardOf } from "./card.ts";
import { clip } from "../../../protocol/text/clip.ts";
import type { AskedQuestion } from "./questions.ts";
import type { TaskRecord, TaskState, TurnRecord } from "../store/records.ts";

const MAX_INSTRUCTION_CHARS = 80;

/** `isEchoPending`: the hook that reports it as a prompt has not come yet. */
type UserAnswer = Pick<TurnRecord, "text" | "answersTurnId" | "isEchoPending">;

interface AgentDeskOptions extends Pick<Timed, "nowUnixMs"> {
  readonly store: DashboardStore;
  readonly book: AgentBook;
  readonly events: DashboardEvents;
}

export class AgentDesk {
  readonly #options: AgentDeskOptions;

  constructor(options: AgentDeskOptions) {
    this.#options = options;
  }

  reportCreated(agent: Agent): void {
    this.#publish("session_created", { session_uuid: agent.record.sessionUuid }, agent);
  }

  /** Not after its end, when a delivery or a capture may still be under way: pages would take it for one that is there. */
  refreshCard(agent: Agent, reason: string): void {
    if (agent.record.endedUnixMs === undefined) this.#tellCard(agent, reason);
  }

  #tellCard(agent: Agent, reason: string): void {
    const { events, nowUnixMs } = this.#options;
    events.publish("card_refresh", cardOf(agent, reason, nowUnixMs()));
  }

  /** What our clients wait for has changed. */
  serverWaiting(waiting: Waiting | undefined): void {
    this.#publish("server_waiting", { waiting: waitingFields(waiting) ?? null });
  }

  /** Since when tmux does not run; undefined: it does. */
  serverGone(sinceUnixMs: number | undefined): void {
    this.#publish("server_gone", { since_unix_ms: sinceUnixMs ?? null });
  }

  seen(agent: Agent): void {
    this.#options.book.update(agent, { lastSeenUnixMs: this.#options.nowUnixMs() });
  }

  /** The user has given it a prompt, or answered its question, at the program itself. */
  prompted(agent: Agent, text: string | undefined): void {
    const isAnswer = openTask(agent)?.state === "awaiting_input";
    const answersTurnId = this.#closeQuestion(agent);
    const task = this.#ensureTask(agent, text);
    const turn =
      text === undefined || text === ""
        ? undefined
        : this.#addTurn(agent, task, { actor: "user", intent: isAnswer ? "answer" : "command", text, answersTurnId });
    this.#setState(agent, "processing");
    if (turn !== undefined) this.#tellTurn(agent, turn);
    this.refreshCard(agent, "user_prompt_submit");
    this.#tellState(agent, "user_prompt_submit", text ?? null);
  }

  /** A question replaces any earlier one. */
  asked(agent: Agent, question: AskedQuestion, eventType: string): void {
    const task = this.#ensureTask(agent, undefined);
    this.#closeQuestion(agent);
    const turn = this.#addTurn(agent, task, { actor: "agent", intent: "question", ...toldOf(question) });
    agent.question = { ...question, turn };
    this.#entered(agent, "awaiting_input", eventType);
    this.#tellTurn(agent, turn);
  }

  /** The same question, now with its options. */
  enriched(agent: Agent, question: AskedQuestion): void {
    if (agent.question === undefined || openTask(agent) === undefined) return;
    const turn = { ...agent.question.turn, ...toldOf(question) };
    agent.question = { ...question, turn };
    this.#options.store.save("turns", turn);
    this.refreshCard(agent, "question_options");
    this.#tellTurn(agent, turn);
  }

  /** The question is answered, by anyone, and the agent works on. */
  resumed(agent: Agent, eventType: string, message: string | null): void {
    this.#closeQuestion(agent);
    this.#entered(agent, "processing", eventType, `${eventType}_resume`, message);
  }

  /** Seen at work without a reported prompt. */
  started(agent: Agent, eventType: string): void {
    this.#ensureTask(agent, undefined);
    this.#entered(agent, "processing", eventType, `${eventType}_inferred`);
  }

  /**
   * The user's answer has been typed.
   * @param isTaken the program has certainly taken it; else its question stays open
   * @param isOpen its question is; else hooks have already reported what followed, and the state stays as it is
   */
  answered(agent: Agent, answer: UserAnswer, isTaken: boolean, isOpen: boolean): void {
    const isOver = isTaken && isOpen;
    if (isOver) this.#closeQuestion(agent);
    const task = isOver ? this.#ensureTask(agent, undefined) : agent.task;
    if (task === undefined) return;
    const turn = this.#addTurn(agent, task, { actor: "user", intent: "answer", ...answer });
    if (isOver) this.#setState(agent, "processing");
    this.seen(agent);
    this.refreshCard(agent, isTaken ? "respond" : "respond_unconfirmed");
    const told = { event_type: "respond", new_state: stateName(agent), message: "User responded via dashboard" };
    if (isTaken) this.#publish("state_changed", told, agent);
    this.#tellTurn(agent, turn);
  }

  /** What has become of an answer, for its card. */
  delivered(agent: Agent, delivery: Omit<LastDelivery, "atUnixMs">): void {
    agent.lastDelivery = { ...delivery, atUnixMs: this.#options.nowUnixMs() };
  }

  /** @param words the agent's last message, if its hook brings it */
  completed(agent: Agent, eventType: string, words?: string): void {
    this.#closeQuestion(agent);
    const task = openTask(agent);
    if (task !== undefined && words !== undefined && words.trim() !== "") {
      this.#tellTurn(agent, this.#addTurn(agent, task, { actor: "agent", intent: "completion", text: words }));
    }
    agent.expectedPrompts.length = 0;
    this.#entered(agent, "complete", eventType, eventType, "→ COMPLETE");
  }

  /** Its session has ended. */
  ended(agent: Agent, eventType: string): void {
    this.#closeQuestion(agent);
    if (openTask(agent) !== undefined) this.#setState(agent, "complete");
    agent.expectedPrompts.length = 0;
    this.#options.book.end(agent);
    this.#tellCard(agent, eventType);
    this.#tellState(agent, eventType, "Session ended", "COMPLETE");
    this.#publish("session_ended", { session_uuid: agent.record.sessionUuid }, agent);
  }

  availabilityChanged(agent: Agent): void {
    this.#publish("commander_availability", { available: agent.isAvailable }, agent);
  }

  /** The hook that reports this prompt of ours has come. */
  echoArrived(turn: TurnRecord): void {
    this.#options.store.save("turns", { ...turn, isEchoPending: false });
  }

  #tellTurn(agent: Agent, { text, actor, intent, taskId, id, toolInput }: TurnRecord): void {
    const ids = { task_id: taskId, turn_id: id, ...(toolInput === undefined ? {} : { tool_input: toolInput }) };
    this.#publish("turn_created", { text: clip(text, MAX_EVENT_TEXT_CHARS), actor, intent, ...ids }, agent);
  }

  #tellState(agent: Agent, eventType: string, message: string | null, state = stateName(agent)): void {
    const fields = {
      project_name: agent.project.name,
      agent_session: agent.record.sessionUuid,
      event_type: eventType,
      new_state: state,
      message: message === null ? null : clip(message, MAX_EVENT_MESSAGE_CHARS),
    };
    this.#publish("state_changed", fields, agent);
  }

  /** @param agent whom it is about; undefined: it concerns all */
  #publish(type: Parameters<DashboardEvents["publish"]>[0], fields: object, agent?: Agent): void {
    const { events, nowUnixMs } = this.#options;
    const ids = agent && { agent_id: agent.record.id, project_id: agent.record.projectId };
    events.publish(type, { ...ids, ...fields, timestamp: new Date(nowUnixMs()).toISOString() });
  }

  #ensureTask(agent: Agent, prompt: string | undefined): TaskRecord {
    const known = openTask(agent);
    if (known !== undefined) return known;
    const nowUnixMs = this.#options.nowUnixMs();
    const instruction = prompt === undefined ? undefined : clip(prompt.trim(), MAX_INSTRUCTION_CHARS);
    const task: TaskRecord = {
      id: this.#options.store.nextId("tasks"),
      agentId: agent.record.id,
      state: "commanded",
      instruction,
      startedUnixMs: nowUnixMs,
      stateUnixMs: nowUnixMs,
      completedUnixMs: undefined,
    };
    agent.task = task;
    agent.digest = EMPTY_DIGEST;
    this.#options.store.save("tasks", task);
    return task;
  }

  #entered(agent: Agent, state: TaskState, eventType: string, reason = eventType, message: string | null = null): void {
    this.#setState(agent, state);
    this.refreshCard(agent, reason);
    this.#tellState(agent, eventType, message);
  }

  #setState(agent: Agent, state: TaskState): void {
    const { task } = agent;
    if (task === undefined || task.state === state) return;
    const nowUnixMs = this.#options.nowUnixMs();
    agent.task = {
      ...task,
      state,
      stateUnixMs: nowUnixMs,
      completedUnixMs: state === "complete" ? nowUnixMs : undefined,
    };
    this.#options.store.save("tasks", agent.task);
  }

  #addTurn(
    agent: Agent,
    task: TaskRecord,
    turn: Partial<TurnRecord> & Pick<TurnRecord, "actor" | "intent" | "text">,
  ): TurnRecord {
    const made: TurnRecord = {
      isEchoPending: false,
      ...turn,
      id: this.#options.store.nextId("turns"),
      taskId: task.id,
      agentId: agent.record.id,
      createdUnixMs: this.#options.nowUnixMs(),
    };
    this.#options.store.save("turns", made);
    agent.digest = withTurn(agent.digest, made);
    if (made.isEchoPending) agent.expectedPrompts.push(made);
    if (agent.expectedPrompts.length > MAX_EXPECTED_PROMPTS) agent.expectedPrompts.shift();
    return made;
  }

  /** Returns the turn of the question that was open. */
  #closeQuestion(agent: Agent): number | undefined {
    const { question } = agent;
    agent.question = undefined;
    if (question?.toolInput !== undefined) {
      const toolInput = { ...question.toolInput, status: "complete" };
      this.#options.store.save("turns", { ...question.turn, ...toldOf(question), toolInput });
    }
    return question?.turn.id;
  }
}

/** What a turn has of it. */
const toldOf = ({ text, tool, kind, toolInput }: AskedQuestion) => ({ text, tool, kind, toolInput });

export const waitingFields = (waiting: Waiting | undefined): object | undefined =>
  waiting && { for: waiting.for, since_unix_ms: waiting.sinceUnixMs };
