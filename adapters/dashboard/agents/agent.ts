/** An agent that has not ended, as it is in memory: its record, its task, what it asks, and what is known of its pane. */
import type { DeliveryOutcome } from "../../../daemon/delivery/delivery.ts";
import type { Readiness } from "../../../daemon/readiness/readiness.ts";
import type { AgentRecord, ProjectRecord, TaskRecord } from "./records.ts";
import type { OpenQuestion } from "./questions.ts";
import { EMPTY_DIGEST, type TaskDigest } from "./taskDigest.ts";

interface LastDelivery {
  readonly delivery: DeliveryOutcome;
  readonly mode: string;
  readonly latencyMs: number;
  readonly atUnixMs: number;
}

/** An answer on its way to the pane. Whoever learns first that it has arrived records it: the delivery, or a hook. */
export interface AnswerUnderWay {
  readonly text: string;
  readonly isRecorded: boolean;
  /**
   * `isReported`: the hook that reports the prompt has come, or none will; `isTaken`: the program is known to have it.
   */
  record(how: { readonly isReported: boolean; readonly isTaken: boolean }): void;
}

/** As its status line says it. */
export interface ContextUse {
  readonly percentUsed: number;
  /** `155k`. */
  readonly remaining: string;
}

export interface Agent {
  record: AgentRecord;
  project: ProjectRecord;
  /** The last one, complete or not. */
  task: TaskRecord | undefined;
  digest: TaskDigest;
  /** Set while the task awaits input. */
  question: OpenQuestion | undefined;
  /** The pane is there and an agent program runs in it. */
  isAvailable: boolean;
  readiness: Readiness | undefined;
  context: ContextUse | undefined;
  lastDelivery: LastDelivery | undefined;
  /** What we typed and no hook has reported yet, oldest first. */
  readonly expectedPrompts: string[];
  answer: AnswerUnderWay | undefined;
  /** Its hooks tell of it; until then its screen alone does. */
  hasHooks: boolean;
}

export const newAgent = (record: AgentRecord, project: ProjectRecord, task: TaskRecord | undefined): Agent => ({
  record,
  project,
  task,
  digest: EMPTY_DIGEST,
  question: undefined,
  isAvailable: false,
  readiness: undefined,
  context: undefined,
  lastDelivery: undefined,
  expectedPrompts: [],
  answer: undefined,
  hasHooks: record.claudeSessionId !== undefined,
});

/** Its task while there is something to do. */
export const openTask = ({ task }: Agent): TaskRecord | undefined => (task?.state === "complete" ? undefined : task);

/** As events and cards name it. */
export const stateName = ({ task }: Agent): string => (task === undefined ? "IDLE" : task.state.toUpperCase());
