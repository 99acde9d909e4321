/** Records of projects, agents, tasks and turns: the database's rows, as the rest of the dashboard uses them. */

import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { PaneId } from "../../../protocol/ids.ts";

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
  readonly agentSessionId?: string | undefined;
  readonly projectId: number;
  /** `%5`, on the tmux server `paneServer`, which is undefined if none was connected when the pane was reported. */
  readonly tmuxPaneId?: PaneId | undefined;
  readonly paneServer?: string | undefined;
  readonly tmuxSession?: string | undefined;
  readonly itermPaneId?: string | undefined;
  readonly startedUnixMs: number;
  readonly lastSeenUnixMs: number;
  readonly endedUnixMs?: number | undefined;
  /**
   * Its process, known once a hook of its own has named its pane. Kept over a restart of the daemon, so that an answer to
   * an earlier question reaches no other process.
   */
  readonly process?: ProcessMark | undefined;
}

/** It is known by its process alone (`panes/foundAgents.ts`): no hook has told of it, and nobody has registered it. */
export const isFound = ({ sessionUuid, agentSessionId }: AgentRecord): boolean =>
  agentSessionId === undefined && sessionUuid[14] === "8";

export interface TaskRecord {
  readonly id: number;
  readonly agentId: number;
  readonly state: TaskState;
  /** The beginning of its first prompt. */
  readonly instruction: string | undefined;
  readonly startedUnixMs: number;
  /** When its present state began. */
  readonly stateUnixMs: number;
  readonly completedUnixMs: number | undefined;
}

export type QuestionKind = "text" | "select" | "multi_select";

/** A question's options, in the form of the agents' own questions. */
export type ToolInput = Readonly<Record<string, unknown>>;

export interface TurnRecord {
  readonly id: number;
  readonly taskId: number;
  readonly agentId: number;
  readonly actor: "user" | "agent";
  readonly intent: "command" | "answer" | "question" | "completion";
  readonly text: string;
  /** Of a question: the tool that asks, how it is answered, and what it offers. */
  readonly tool?: string | undefined;
  readonly kind?: QuestionKind | undefined;
  readonly toolInput?: ToolInput | undefined;
  /** The question that an answer belongs to. */
  readonly answersTurnId?: number | undefined;
  /** Typed by us, and the hook that reports the prompt has not come yet. */
  readonly isEchoPending: boolean;
  readonly createdUnixMs: number;
}
