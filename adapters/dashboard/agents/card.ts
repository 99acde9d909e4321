/** An agent as the page shows it: the data of `card_refresh` and a row of `GET /api/agents`. */
import type { DashboardCard } from "../../../protocol/api/dashboard.ts";
import { formatPosition } from "../../../protocol/position.ts";
import { ACTIVE_MS, MAX_CARD_MESSAGES, MAX_CARD_TEXT_CHARS } from "../dashboardLimits.ts";
import { type Agent, openTask, stateName, summaryOf } from "./agent.ts";
import { clip } from "../../../protocol/text/clip.ts";
import type { OpenQuestion } from "./questions.ts";

type Card = Readonly<Record<string, unknown>> & { readonly agent_id: number; readonly project_id: number };

const PRIORITIES: Readonly<Record<string, number>> = { AWAITING_INPUT: 100, PROCESSING: 50, COMMANDED: 50 };

export function cardOf(agent: Agent, reason: string, nowUnixMs: number): Card {
  const { record, project, task, question, readiness, lastDelivery, digest, context } = agent;
  const state = stateName(agent);
  const session = record.sessionUuid.slice(0, 8);
  return {
    id: record.id,
    agent_id: record.id,
    project_id: project.id,
    project_name: project.name,
    project_path: project.path,
    project_slug: slugOf(project.name),
    session,
    hero_chars: session.slice(0, 2),
    hero_trail: session.slice(2),
    session_uuid: record.sessionUuid,
    state,
    state_info: digest.plan !== undefined && state === "PROCESSING" ? WITH_PLAN : STATES[state],
    is_bridge_connected: agent.isAvailable,
    is_active: record.endedUnixMs === undefined && (agent.isAvailable || nowUnixMs - record.lastSeenUnixMs < ACTIVE_MS),
    uptime: `up ${upText(nowUnixMs - record.startedUnixMs)}`,
    elapsed: task === undefined ? null : spanText((task.completedUnixMs ?? nowUnixMs) - task.startedUnixMs),
    last_seen: `${spanText(nowUnixMs - record.lastSeenUnixMs)} ago`,
    last_seen_unix_ms: record.lastSeenUnixMs,
    state_since_unix_ms: task?.stateUnixMs ?? record.startedUnixMs,
    priority: PRIORITIES[state] ?? 0,
    priority_reason: null,
    reason,
    current_task_id: task?.id ?? null,
    task_instruction: task?.instruction ?? null,
    task_summary: summary(agent),
    task_completion_summary: digest.completion ?? null,
    turn_count: digest.turnCount,
    has_plan: digest.plan !== undefined,
    ...(digest.plan === undefined ? {} : { plan_content: digest.plan }),
    context:
      context === undefined
        ? null
        : { ...CONTEXT_LEVELS, percent_used: context.percentUsed, remaining_tokens: context.remaining },
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
            position: readiness.position === undefined ? null : formatPosition(readiness.position),
          },
    question: question === undefined || openTask(agent) === undefined ? null : questionFields(question),
    question_options: question?.toolInput ?? null,
    last_delivery:
      lastDelivery === undefined
        ? null
        : {
            delivery: lastDelivery.delivery,
            screen_note: lastDelivery.screenNote ?? null,
            mode: lastDelivery.mode,
            latency_ms: lastDelivery.latencyMs,
            at_unix_ms: lastDelivery.atUnixMs,
          },
    running: runningFields(agent),
    timestamp: new Date(nowUnixMs).toISOString(),
  };
}

/** What the daemon knows of its process. Foreign text is cut for the card. */
export function runningFields({ running, messages }: Pick<Agent, "running" | "messages">): DashboardCard["running"] {
  if (running === undefined) return null;
  const { id, name, kind, cwd, branch, worktree, task, lastMessage, readiness } = running;
  return {
    id,
    name,
    agent: kind.name,
    version: (readiness?.profile === kind.name ? readiness.version : undefined) ?? null,
    cwd: cwd ?? null,
    branch: branch ?? null,
    worktree: worktree ?? null,
    task: task === undefined ? null : { text: clip(task.text, MAX_CARD_TEXT_CHARS), since_unix_ms: task.sinceUnixMs },
    last_message: lastMessage === undefined ? null : clip(lastMessage, MAX_CARD_TEXT_CHARS),
    messages: messages.slice(0, MAX_CARD_MESSAGES).map((message) => ({
      id: message.id,
      text: clip(message.text, MAX_CARD_TEXT_CHARS),
      outcome: message.outcome,
      reason: message.reason ?? null,
      created_unix_ms: message.createdUnixMs,
    })),
  };
}

/** With the contract's colour names. */
const STATES: Readonly<Record<DashboardCard["state"], DashboardCard["state_info"]>> = {
  IDLE: { color: "green", bg_class: "bg-green", label: "Idle - ready for task" },
  COMMANDED: { color: "yellow", bg_class: "bg-amber", label: "Command received" },
  PROCESSING: { color: "blue", bg_class: "bg-blue", label: "Processing..." },
  AWAITING_INPUT: { color: "orange", bg_class: "bg-amber", label: "Input needed" },
  COMPLETE: { color: "green", bg_class: "bg-green", label: "Task complete" },
};
const WITH_PLAN = { ...STATES.PROCESSING, label: "Executing plan..." };

/** Its question, or its task's last message. */
function summary({ task, question, digest }: Agent): string {
  if (task === undefined) return "No active task";
  return task.state === "awaiting_input" && question !== undefined ? summaryOf(question.text) : digest.lastText;
}

/** Percentages from which the contract's page colours it. */
const CONTEXT_LEVELS = { warning_threshold: 65, high_threshold: 75 };

const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-|-$/g, "");

/** `13h`, `45m`, `<1m`. */
const upText = (ms: number): string => spanText(ms).replace(/ \d+m$/, "");

const questionFields = (question: OpenQuestion) => ({
  turn_id: question.turn.id,
  text: question.text,
  kind: question.kind,
  options: question.options.map(({ index, number, label, keys }) => ({ index, number: number ?? null, label, keys })),
  other_index: question.otherIndex ?? null,
  dialog_id: question.dialogId ?? null,
});

/** `2h 5m`, `5m`, `<1m`. */
function spanText(ms: number): string {
  const minutes = Math.floor(Math.max(0, ms) / 60_000);
  if (minutes < 1) return "<1m";
  return minutes < 60 ? `${minutes}m` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}
