/** An agent that has not ended, as it is in memory: its record, its task, its question, and what is known of its pane. */
import type { DeliveryOutcome } from "../../../daemon/delivery/delivery.ts";
import type { Message } from "../../agents/messages/messageStore.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import type { DashboardCard } from "../../../protocol/api/dashboard.ts";
import { clip } from "../../../protocol/text/clip.ts";
import { fieldsOf, textOf } from "../../../protocol/text/jsonObject.ts";
import type { Readiness } from "../../../daemon/readiness/readiness.ts";
import type { AgentRecord, ProjectRecord, TaskRecord, TaskState, TurnRecord } from "../store/records.ts";
import type { OpenQuestion } from "./questions.ts";

export interface LastDelivery {
  readonly delivery: DeliveryOutcome | "not_entered";
  /** What the screen said since: foreign text, one line. */
  readonly screenNote: string | undefined;
  readonly mode: string;
  readonly latencyMs: number;
  readonly atUnixMs: number;
}

/** An answer on its way to the pane. The delivery or a hook records it, whichever first confirms it. */
export interface AnswerUnderWay {
  readonly text: string;
  readonly isRecorded: boolean;
  /**
   * `isReported`: the hook that reports the prompt has come, or none will; `isTaken`: the program has certainly taken it.
   */
  record(how: { readonly isReported: boolean; readonly isTaken: boolean }): void;
}

/** From its status line. */
export interface ContextUse {
  readonly percentUsed: number;
  /** `155k`. */
  readonly remaining: string;
}

export class Agent {
  record: AgentRecord;
  project: ProjectRecord;
  /** The last one, complete or not. */
  task: TaskRecord | undefined;
  digest: TaskDigest = EMPTY_DIGEST;
  /** Set while the task awaits input. */
  question: OpenQuestion | undefined;
  /** The turn of a question of another process than the one before: only an answer that names its dialog is meant for it. */
  othersTurnId: number | undefined;
  /** The pane exists and an agent program runs in it. */
  isAvailable = false;
  readiness: Readiness | undefined;
  context: ContextUse | undefined;
  lastDelivery: LastDelivery | undefined;
  /** Prompts we typed that no hook has reported yet, oldest first. */
  readonly expectedPrompts: TurnRecord[] = [];
  answer: AnswerUnderWay | undefined;
  /** As the daemon found it; undefined: not now, or on a host that shows no processes. */
  running: RunningAgent | undefined;
  /** Messages that wait for it, or could not be delivered. */
  messages: readonly Message[] = [];

  constructor(record: AgentRecord, project: ProjectRecord, task: TaskRecord | undefined) {
    this.record = record;
    this.project = project;
    this.task = task;
  }

  /** It reports by hooks; until then only its screen does. */
  get hasHooks(): boolean {
    return this.record.agentSessionId !== undefined;
  }
}

/** Its task while that is not complete. */
export const openTask = ({ task }: Agent): TaskRecord | undefined => (task?.state === "complete" ? undefined : task);

/** As events and cards name it. */
export const stateName = ({ task }: Agent): DashboardCard["state"] =>
  task === undefined ? "IDLE" : (task.state.toUpperCase() as Uppercase<TaskState>);

/** As long as the contract's cards have it. */
const MAX_SUMMARY_CHARS = 103;

/** Its last task on its card beyond its state: number of turns, last message, plan. */
interface TaskDigest {
  readonly turnCount: number;
  /** Of the last turn that is not a question; an open question is in the card itself. */
  readonly lastText: string;
  /** What the agent said when it ended. */
  readonly completion: string | undefined;
  readonly plan: string | undefined;
}

export const EMPTY_DIGEST: TaskDigest = { turnCount: 0, lastText: "", completion: undefined, plan: undefined };

export function withTurn(digest: TaskDigest, { intent, text, toolInput }: TurnRecord): TaskDigest {
  const plan = textOf(fieldsOf(toolInput)?.["plan_content"]) ?? digest.plan;
  const counted = { ...digest, turnCount: digest.turnCount + 1, plan };
  if (intent === "question") return counted;
  const lastText = summaryOf(text);
  return { ...counted, lastText, completion: intent === "completion" ? lastText : undefined };
}

export const summaryOf = (text: string): string => clip(text.trim(), MAX_SUMMARY_CHARS);
