/** What is kept of projects, agents, tasks and turns: the rows of the database, as the rest of the dashboard knows them. */

import type { ProcessMark } from "../../../daemon/tmux/processes.ts";

/** Of a task; an agent without an open one is `IDLE`, or `COMPLETE` after its last. */
export type TaskState = "commanded" | "processing" | "awaiting_input" | "complete";

export interface ProjectRecord {
  readonly id: number;
  readonly name: string;
  /** Absolute, without a slash at its end. */
  readonly path: string;
  readonly branch: string | undefined;
}

export interface AgentRecord {
  readonly id: number;
  readonly sessionUuid: string;
  readonly claudeSessionId: string | undefined;
  readonly projectId: number;
  /** `%5`, on the tmux server `paneServer`; that is undefined while no server was connected when the pane was told. */
  readonly tmuxPaneId: string | undefined;
  readonly paneServer: string | undefined;
  readonly tmuxSession: string | undefined;
  readonly itermPaneId: string | undefined;
  readonly transcriptPath: string | undefined;
  readonly startedUnixMs: number;
  readonly lastSeenUnixMs: number;
  readonly endedUnixMs: number | undefined;
  /**
   * Once a hook of its own has told that it is in its pane: the process that it is, or was. It outlives the daemon, so that
   * an answer to a question from before goes to nobody else.
   */
  readonly process: ProcessMark | undefined;
}

export interface TaskRecord {
  readonly id: number;
  readonly agentId: number;
  readonly state: TaskState;
  /** The first words of the prompt it began with. */
  readonly instruction: string | undefined;
  readonly startedUnixMs: number;
  /** When its present state began. */
  readonly stateUnixMs: number;
  readonly completedUnixMs: number | undefined;
}

export type QuestionKind = "text" | "select" | "multi_select";

export type TurnIntent = "command" | "answer" | "question" | "completion";

/** What a question offers, in the shape that agents' own questions have. */
export type ToolInput = Readonly<Record<string, unknown>>;

export interface TurnRecord {
  readonly id: number;
  readonly taskId: number;
  readonly agentId: number;
  readonly actor: "user" | "agent";
  readonly intent: TurnIntent;
  readonly text: string;
  /** Of a question: the tool that asks, how it is answered, and what it offers. */
  readonly tool: string | undefined;
  readonly kind: QuestionKind | undefined;
  readonly toolInput: ToolInput | undefined;
  /** The question that an answer is to. */
  readonly answersTurnId: number | undefined;
  /** Typed by us, and the hook that reports the prompt has not come yet. */
  readonly isEchoPending: boolean;
  readonly createdUnixMs: number;
}
