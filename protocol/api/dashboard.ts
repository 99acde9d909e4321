/** The dashboard's responses (docs/contracts/dashboard.md), for its routes; requests are read by the contract's own rules. */
import * as v from "valibot";

const text = v.string();
const maybe = v.nullable(v.string());
const count = v.number();

/** Why an answer, or input, did not reach a pane. */
const ERROR_TYPES = [
  "agent_not_found",
  "idempotency_conflict",
  "invalid_answers",
  "invalid_input",
  "invalid_keys",
  "invalid_mode",
  "invalid_option_index",
  "invalid_text",
  "missing_text",
  "no_pane_id",
  "not_echoed",
  "pane_not_found",
  "send_failed",
  "timeout",
  "tmux_not_installed",
  "tmux_not_running",
  "unknown",
  "wrong_state",
] as const;

export const refusalSchema = v.strictObject({
  status: v.literal("error"),
  error_type: v.picklist(ERROR_TYPES),
  message: text,
  reason: v.optional(text),
  box: v.optional(text),
  text_written: v.optional(v.literal(true)),
  latency_ms: v.optional(count),
});

export const respondSchema = v.strictObject({
  status: v.literal("ok"),
  agent_id: count,
  mode: v.picklist(["text", "select", "other", "multi_select", "keys"]),
  new_state: text,
  latency_ms: count,
  delivery: v.picklist(["submitted", "queued", "echoed_unconfirmed", "not_echoed", "indeterminate"]),
  screen_note: v.optional(text),
});

export type DashboardDelivery = v.InferOutput<typeof respondSchema>;

export const agentOkSchema = v.strictObject({ status: v.literal("ok"), agent_id: count });
export const availabilitySchema = v.strictObject({ ...agentOkSchema.entries, commander_available: v.boolean() });

const questionSchema = v.strictObject({
  turn_id: v.optional(count),
  text,
  kind: text,
  options: v.array(v.strictObject({ index: count, number: v.nullable(text), label: text, keys: v.array(text) })),
  other_index: v.nullable(count),
  dialog_id: maybe,
});

/** Also the data of `card_refresh`. */
const cardSchema = v.strictObject({
  id: count,
  agent_id: count,
  project_id: count,
  project_name: text,
  project_path: text,
  project_slug: text,
  session: text,
  hero_chars: text,
  hero_trail: text,
  session_uuid: text,
  state: v.picklist(["IDLE", "COMMANDED", "PROCESSING", "AWAITING_INPUT", "COMPLETE"]),
  state_info: v.strictObject({ color: text, bg_class: text, label: text }),
  is_bridge_connected: v.boolean(),
  is_active: v.boolean(),
  uptime: text,
  elapsed: maybe,
  last_seen: text,
  last_seen_unix_ms: count,
  state_since_unix_ms: count,
  priority: count,
  priority_reason: v.null(),
  reason: text,
  current_task_id: v.nullable(count),
  task_instruction: maybe,
  task_summary: text,
  task_completion_summary: maybe,
  turn_count: count,
  has_plan: v.boolean(),
  plan_content: v.optional(text),
  context: v.nullable(v.record(text, v.nullable(count))),
  tmux_pane_id: maybe,
  tmux_session: maybe,
  iterm_pane_id: maybe,
  readiness: v.nullable(
    v.strictObject({ state: text, source: text, since_unix_ms: count, profile: text, position: maybe }),
  ),
  question: v.nullable(questionSchema),
  question_options: v.nullable(v.record(text, v.unknown())),
  last_delivery: v.nullable(
    v.strictObject({ delivery: text, screen_note: maybe, mode: text, latency_ms: count, at_unix_ms: count }),
  ),
  /** As the daemon found it by its process; null: it runs elsewhere, or no longer. Task and words are foreign text. */
  running: v.nullable(
    v.strictObject({
      id: text,
      name: text,
      agent: text,
      version: maybe,
      cwd: maybe,
      branch: maybe,
      worktree: maybe,
      task: v.nullable(v.strictObject({ text, since_unix_ms: count })),
      last_message: maybe,
      /** Those that wait, and those that could not be delivered; the oldest first. */
      messages: v.array(v.strictObject({ id: text, text, outcome: text, reason: maybe, created_unix_ms: count })),
    }),
  ),
  timestamp: text,
});
export type DashboardCard = v.InferOutput<typeof cardSchema>;
export const agentsSchema = v.strictObject({
  agents: v.array(cardSchema),
  last_event_id: count,
  /** The name of the tmux server, for the operations that the page offers. */
  server: text,
  /** While the daemon's clients wait for sessions and clients of the user's tmux to stop changing. */
  waiting: v.exactOptional(v.strictObject({ for: v.literal("calm"), since_unix_ms: count })),
  /** While tmux does not run. */
  gone_since_unix_ms: v.exactOptional(count),
});

export type DashboardAgents = v.InferOutput<typeof agentsSchema>;

/** Of a search over screens; rows are foreign text. */
export const screensSchema = v.strictObject({
  found: v.array(v.strictObject({ agent_id: count, row: text })),
  /** On other machines: `running.id` of the card. */
  elsewhere: v.array(v.strictObject({ agent: text, row: text })),
  unread: count,
  /** Machines that did not respond in time. */
  unreachable: v.array(text),
});
export type DashboardScreens = v.InferOutput<typeof screensSchema>;

const templateEntries = {
  name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(64), v.regex(/^\P{Cc}*$/u, "a name is one line")),
  text: v.pipe(v.string(), v.regex(/\S/, "a template has text"), v.maxLength(8_192)),
};
/** A prompt that is kept under a name. */
const templateSchema = v.strictObject({ name: text, text });
export type DashboardTemplate = v.InferOutput<typeof templateSchema>;
export const templatesSchema = v.strictObject({ templates: v.array(templateSchema) });
export type DashboardTemplates = v.InferOutput<typeof templatesSchema>;
/** `replaces`: the name that it had. */
export const saveTemplateSchema = v.strictObject({ ...templateEntries, replaces: v.optional(templateEntries.name) });
export const removeTemplateSchema = v.strictObject({ name: templateEntries.name });

const turnSchema = v.strictObject({
  turn_id: count,
  task_id: count,
  actor: text,
  intent: v.picklist(["command", "answer", "question", "completion"]),
  text,
  tool_input: v.nullable(v.record(text, v.unknown())),
  answers_turn_id: v.nullable(count),
  timestamp: text,
});
export type DashboardTurn = v.InferOutput<typeof turnSchema>;
export const turnsSchema = v.strictObject({ turns: v.array(turnSchema) });

export const sessionSchema = v.strictObject({
  session_uuid: text,
  agent_id: count,
  project_id: count,
  project_name: text,
  iterm_pane_id: maybe,
  tmux_pane_id: maybe,
  started_at: text,
  last_seen_at: text,
  state: text,
});
export const sessionCreatedSchema = v.strictObject({
  status: v.literal("created"),
  agent_id: count,
  session_uuid: text,
  project_id: count,
  project_name: text,
});
export const sessionEndedSchema = v.strictObject({ status: v.literal("ended"), session_uuid: text, agent_id: count });
export const sessionErrorSchema = v.strictObject({ error: text, agent_id: v.optional(count) });

const hookIgnoredSchema = v.strictObject({ status: v.literal("ignored"), reason: v.literal("hooks_disabled") });
const hookTakenSchema = v.strictObject({
  status: v.literal("ok"),
  agent_id: count,
  state: v.optional(maybe),
  state_changed: v.optional(v.boolean()),
  new_state: v.optional(maybe),
  is_new_agent: v.optional(v.boolean()),
  correlation_method: v.optional(text),
});
export const hookSchema = v.union([hookTakenSchema, hookIgnoredSchema]);
export const hookErrorSchema = v.strictObject({ status: v.literal("error"), message: text });
export const hookDroppedSchema = v.strictObject({ status: v.literal("dropped"), message: text });
export const hookStatusSchema = v.strictObject({
  enabled: v.boolean(),
  mode: v.picklist(["hooks_active", "polling_fallback"]),
  last_event_at: maybe,
  last_event_ago: maybe,
  last_event_type: maybe,
  events_received: count,
  polling_interval: count,
  config: v.record(text, count),
});
