/** An agent as the page shows it: the data of `card_refresh` and a row of `GET /api/agents`. */
import type { Position } from "../../../protocol/position.ts";
import { formatPosition } from "../../../protocol/position.ts";
import { ACTIVE_MS } from "../limits.ts";
import { type Agent, openTask, stateName } from "./agent.ts";
import type { OpenQuestion } from "./questions.ts";

export type Card = Readonly<Record<string, unknown>> & { readonly agent_id: number; readonly project_id: number };

const PRIORITIES: Readonly<Record<string, number>> = { AWAITING_INPUT: 100, PROCESSING: 50, COMMANDED: 50 };

export function cardOf(agent: Agent, reason: string, nowUnixMs: number): Card {
  const { record, project, task, question, readiness, lastDelivery } = agent;
  const state = stateName(agent);
  return {
    id: record.id,
    agent_id: record.id,
    project_id: project.id,
    project_name: project.name,
    project_path: project.path,
    session: record.sessionUuid.slice(0, 8),
    session_uuid: record.sessionUuid,
    state,
    state_info: { label: LABELS[state] ?? state },
    is_bridge_connected: agent.isAvailable,
    is_active: record.endedUnixMs === undefined && (agent.isAvailable || nowUnixMs - record.lastSeenUnixMs < ACTIVE_MS),
    elapsed: task === undefined ? null : spanText((task.completedUnixMs ?? nowUnixMs) - task.startedUnixMs),
    last_seen: `${spanText(nowUnixMs - record.lastSeenUnixMs)} ago`,
    last_seen_unix_ms: record.lastSeenUnixMs,
    state_since_unix_ms: task?.stateUnixMs ?? record.startedUnixMs,
    priority: PRIORITIES[state] ?? 0,
    reason,
    current_task_id: task?.id ?? null,
    task_instruction: task?.instruction ?? null,
    tmux_pane_id: record.tmuxPaneId ?? null,
    tmux_session: record.tmuxSession ?? null,
    iterm_pane_id: record.itermPaneId ?? null,
    readiness:
      readiness === undefined
        ? null
        : {
            state: readiness.state,
            source: readiness.source,
            since_unix_ms: readiness.sinceUnixMs,
            profile: readiness.profile,
            position: positionText(readiness.position),
          },
    question: question === undefined || openTask(agent) === undefined ? null : questionAnswer(question),
    question_options: question?.toolInput ?? null,
    last_delivery:
      lastDelivery === undefined
        ? null
        : {
            delivery: lastDelivery.delivery,
            mode: lastDelivery.mode,
            latency_ms: lastDelivery.latencyMs,
            at_unix_ms: lastDelivery.atUnixMs,
          },
    timestamp: new Date(nowUnixMs).toISOString(),
  };
}

const LABELS: Readonly<Record<string, string>> = {
  IDLE: "Idle - ready for task",
  COMMANDED: "Command received",
  PROCESSING: "Processing...",
  AWAITING_INPUT: "Input needed",
  COMPLETE: "Task complete",
};

const positionText = (position: Position | undefined): string | null =>
  position === undefined ? null : formatPosition(position);

const questionAnswer = (question: OpenQuestion) => ({
  turn_id: question.turnId,
  text: question.text,
  kind: question.kind,
  options: question.options.map(({ index, number, label, keys }) => ({ index, number: number ?? null, label, keys })),
  other_index: question.otherIndex ?? null,
  dialog_id: question.dialogId ?? null,
});

/** `2h 5m`, `5m`, `<1m`. */
export function spanText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return "<1m";
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
