/** Between the database's rows and the records. */
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type {
  AgentRecord,
  ProjectRecord,
  QuestionKind,
  TaskRecord,
  TaskState,
  ToolInput,
  TurnRecord,
} from "../agents/records.ts";

type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

const text = (value: Value | undefined): string => (typeof value === "string" ? value : "");
const number = (value: Value | undefined): number => Number(value ?? 0);
const optionalText = (value: Value | undefined): string | undefined => (typeof value === "string" ? value : undefined);
const optionalNumber = (value: Value | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;

export const projectOf = (row: Row): ProjectRecord => ({
  id: number(row["id"]),
  name: text(row["name"]),
  path: text(row["path"]),
  branch: optionalText(row["branch"]),
});

export const projectRow = ({ id, name, path, branch }: ProjectRecord): Row => ({
  id,
  name,
  path,
  branch: branch ?? null,
});

export const agentOf = (row: Row): AgentRecord => ({
  id: number(row["id"]),
  sessionUuid: text(row["session_uuid"]),
  claudeSessionId: optionalText(row["claude_session_id"]),
  projectId: number(row["project_id"]),
  tmuxPaneId: optionalText(row["tmux_pane_id"]),
  paneServer: optionalText(row["pane_server"]),
  tmuxSession: optionalText(row["tmux_session"]),
  itermPaneId: optionalText(row["iterm_pane_id"]),
  transcriptPath: optionalText(row["transcript_path"]),
  startedUnixMs: number(row["started_unix_ms"]),
  lastSeenUnixMs: number(row["last_seen_unix_ms"]),
  endedUnixMs: optionalNumber(row["ended_unix_ms"]),
  process: processOf(row["process"]),
});

export const agentRow = (agent: AgentRecord): Row => ({
  id: agent.id,
  session_uuid: agent.sessionUuid,
  claude_session_id: agent.claudeSessionId ?? null,
  project_id: agent.projectId,
  tmux_pane_id: agent.tmuxPaneId ?? null,
  pane_server: agent.paneServer ?? null,
  tmux_session: agent.tmuxSession ?? null,
  iterm_pane_id: agent.itermPaneId ?? null,
  transcript_path: agent.transcriptPath ?? null,
  started_unix_ms: agent.startedUnixMs,
  last_seen_unix_ms: agent.lastSeenUnixMs,
  ended_unix_ms: agent.endedUnixMs ?? null,
  process: agent.process === undefined ? null : JSON.stringify(agent.process),
});

export const taskOf = (row: Row): TaskRecord => ({
  id: number(row["id"]),
  agentId: number(row["agent_id"]),
  state: text(row["state"]) as TaskState,
  instruction: optionalText(row["instruction"]),
  startedUnixMs: number(row["started_unix_ms"]),
  stateUnixMs: number(row["state_unix_ms"]),
  completedUnixMs: optionalNumber(row["completed_unix_ms"]),
});

export const taskRow = (task: TaskRecord): Row => ({
  id: task.id,
  agent_id: task.agentId,
  state: task.state,
  instruction: task.instruction ?? null,
  started_unix_ms: task.startedUnixMs,
  state_unix_ms: task.stateUnixMs,
  completed_unix_ms: task.completedUnixMs ?? null,
});

export const turnOf = (row: Row): TurnRecord => ({
  id: number(row["id"]),
  taskId: number(row["task_id"]),
  agentId: number(row["agent_id"]),
  actor: row["actor"] === "user" ? "user" : "agent",
  intent: text(row["intent"]) as TurnRecord["intent"],
  text: text(row["text"]),
  tool: optionalText(row["tool"]),
  kind: optionalText(row["kind"]) as QuestionKind | undefined,
  toolInput: toolInputOf(row["tool_input"]),
  answersTurnId: optionalNumber(row["answers_turn_id"]),
  isEchoPending: row["echo_pending"] === 1,
  createdUnixMs: number(row["created_unix_ms"]),
});

export const turnRow = (turn: TurnRecord): Row => ({
  id: turn.id,
  task_id: turn.taskId,
  agent_id: turn.agentId,
  actor: turn.actor,
  intent: turn.intent,
  text: turn.text,
  tool: turn.tool ?? null,
  kind: turn.kind ?? null,
  tool_input: turn.toolInput === undefined ? null : JSON.stringify(turn.toolInput),
  answers_turn_id: turn.answersTurnId ?? null,
  echo_pending: turn.isEchoPending ? 1 : 0,
  created_unix_ms: turn.createdUnixMs,
});

const toolInputOf = (value: Value | undefined): ToolInput | undefined => objectOf(value);

function processOf(value: Value | undefined): ProcessMark | undefined {
  const { pid, start, executable } = objectOf(value) ?? {};
  if (typeof pid !== "number" || typeof start !== "string") return undefined;
  return { pid, start, executable: typeof executable === "string" ? executable : undefined };
}

function objectOf(value: Value | undefined): Readonly<Record<string, unknown>> | undefined {
  if (typeof value !== "string") return undefined;
  try {
    return JSON.parse(value) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}
