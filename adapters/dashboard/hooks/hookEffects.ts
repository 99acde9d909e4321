/**
 * Each hook's effect on its agent and its response (docs/contracts/dashboard.md §3). Nothing here waits: the agent's program
 * is blocked until it has the response.
 */
import { significant } from "../../../daemon/delivery/screen/promptEcho.ts";
import { type Agent, openTask } from "../agents/agent.ts";
import type { AgentDesk } from "../agents/agentDesk.ts";
import {
  type AskedQuestion,
  ASKING_TOOLS,
  questionOfDialog,
  questionOfNotification,
  questionOfTool,
} from "../agents/questions.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import type { HookName } from "./hookNames.ts";
import type { HookRequest } from "./hookRequest.ts";

type HookReply = Readonly<Record<string, string | boolean | null>>;

type Effect = (context: DashboardParts, agent: Agent, hook: HookRequest) => HookReply;

export function applyHook(context: DashboardParts, name: HookName, hook: HookRequest, agent: Agent): HookReply {
  context.desk.seen(agent);
  return EFFECTS[name](context, agent, hook);
}

const sessionStart: Effect = ({ desk, panes }, agent, hook) => {
  if (hook.source === "startup") panes.report(agent, "starting");
  // A session that compacts continues its turn; any other start means that the previous turn is over.
  const isFresh = hook.source !== undefined && hook.source !== "compact";
  if (isFresh && openTask(agent) !== undefined) desk.completed(agent, "session_start");
  else desk.refreshCard(agent, "session_start");
  panes.evaluate(agent);
  return { state: openTask(agent)?.state ?? "idle" };
};

const sessionEnd: Effect = ({ desk, panes }, agent) => {
  panes.ended(agent);
  desk.ended(agent, "session_end");
  return { state: "complete" };
};

const userPromptSubmit: Effect = ({ desk, panes }, agent, { prompt }) => {
  if (prompt !== undefined && isSystemPrompt(prompt)) return { state: null, state_changed: false };
  panes.report(agent, "busy");
  const ours = prompt === undefined ? undefined : ownPrompt(desk, agent, prompt);
  if (ours === "known") {
    desk.refreshCard(agent, "user_prompt_submit_respond_pending");
    return { state: null, state_changed: false };
  }
  if (ours === "taken") {
    desk.resumed(agent, "user_prompt_submit", null);
    return { state: "processing", state_changed: true };
  }
  desk.prompted(agent, prompt);
  return { state: "processing", state_changed: true };
};

const stop: Effect = ({ desk, panes }, agent, { lastMessage }) => {
  const task = openTask(agent);
  if (task === undefined) {
    panes.report(agent, "idle");
    desk.refreshCard(agent, "stop");
    return { state: null, state_changed: false };
  }
  // A dialog holds the turn up: one that we are answering has been answered.
  const isAnswered = agent.answer !== undefined && agent.question?.dialogId !== undefined;
  if (agent.question !== undefined && !isAnswered) {
    desk.refreshCard(agent, "stop");
    return { state: "AWAITING_INPUT", state_changed: false };
  }
  panes.report(agent, "idle");
  desk.completed(agent, "stop", lastMessage);
  return { state: "complete", state_changed: true };
};

const notification: Effect = ({ desk, panes }, agent, { message, title, notificationType }) => {
  const isNoise = message !== undefined && (message.includes("Interruption detected") || isSystemPrompt(message));
  const state = openTask(agent)?.state;
  if (isNoise || (state !== "processing" && state !== "commanded")) {
    if (!isNoise) desk.refreshCard(agent, "notification");
    return UNCHANGED;
  }
  // A permission has a dialog of its own; this is the prompt box, which takes text.
  const isPromptBox =
    notificationType === undefined ? IDLE_MESSAGE.test(message ?? "") : IDLE_TYPE === notificationType;
  if (isPromptBox) panes.report(agent, "idle");
  desk.asked(agent, questionOfNotification(title, message), "notification");
  return ENTERED;
};

const IDLE_TYPE = "idle_prompt";
const IDLE_MESSAGE = /waiting for your input/i;

const preToolUse: Effect = (context, agent, { toolName, toolInput }) => {
  if (toolName === undefined || !ASKING_TOOLS.has(toolName)) {
    if (openTask(agent)?.state !== "awaiting_input") works(context, agent, "pre_tool_use");
    return UNCHANGED;
  }
  return asks(context, agent, questionOfTool(toolName, toolInput), "pre_tool_use");
};

const permissionRequest: Effect = (context, agent, { toolName, toolInput, message }) => {
  // The tool itself has already asked.
  const isKnown = toolName !== undefined && agent.question?.tool === toolName && ASKING_TOOLS.has(toolName);
  const asked = isKnown ? undefined : questionOfTool(toolName, toolInput, message);
  return asks(context, agent, asked, "permission_request");
};

/** The dialog may already be on the screen, even a question by itself, or appear later, when the screen reports it. */
function asks(
  { desk, panes }: DashboardParts,
  agent: Agent,
  asked: AskedQuestion | undefined,
  eventType: string,
): HookReply {
  const { question } = agent;
  panes.report(agent, "asking");
  const dialog = agent.readiness?.dialog;
  const isShown = dialog !== undefined && question?.dialogId === dialog.id && question.tool === undefined;
  if (asked !== undefined && isShown) desk.enriched(agent, questionOfDialog(dialog, asked));
  else if (asked !== undefined) desk.asked(agent, asked, eventType);
  panes.showDialog(agent);
  return asked === undefined ? UNCHANGED : ENTERED;
}

/** It continues its work: reported only on a change. */
function works({ desk, panes }: DashboardParts, agent: Agent, reason: string): void {
  if (panes.report(agent, "busy")) desk.refreshCard(agent, reason);
}

const postToolUse: Effect = (context, agent, { toolName }) => {
  const { desk, panes } = context;
  const task = openTask(agent);
  if (task === undefined) return UNCHANGED;
  if (task.state !== "awaiting_input") {
    works(context, agent, "post_tool_use");
    return { state_changed: false, new_state: task.state };
  }
  const asking = agent.question?.tool;
  // A hook's evidence lasts until the next hook; the screen's or a title's until it changes.
  const { state, source } = agent.readiness ?? {};
  const isAnswered = asking === undefined ? state !== "asking" || source === "hook" : asking === toolName;
  if (!isAnswered) return { state_changed: false, new_state: task.state };
  panes.report(agent, "busy");
  desk.resumed(agent, "post_tool_use", toolName === undefined ? null : `Tool: ${toolName}`);
  return { state_changed: true, new_state: "processing" };
};

const EFFECTS: Readonly<Record<HookName, Effect>> = {
  "session-start": sessionStart,
  "session-end": sessionEnd,
  "user-prompt-submit": userPromptSubmit,
  stop,
  notification,
  "pre-tool-use": preToolUse,
  "post-tool-use": postToolUse,
  "permission-request": permissionRequest,
};

const UNCHANGED: HookReply = { state_changed: false, new_state: null };
const ENTERED: HookReply = { state_changed: true, new_state: "AWAITING_INPUT" };

/** Agents' messages to themselves come through the same hook. */
export const isSystemPrompt = (text: string): boolean =>
  ["<task-notification>", "<system-reminder>", "[Request interrupted by user for tool use]"].some((mark) =>
    text.includes(mark),
  );

/**
 * A prompt that we typed is recognised by its text, whenever it comes; each is expected once. Blanks and combining marks do
 * not count: programs compose letters, make spaces of tabs and drop blanks at the ends. `taken`: this confirms that the
 * program has taken it, and its question is still open.
 */
function ownPrompt(desk: AgentDesk, agent: Agent, prompt: string): "known" | "taken" | undefined {
  const isReported = (typed: string): boolean => significant(typed, true) === significant(prompt, true);
  if (agent.answer !== undefined && !agent.answer.isRecorded && isReported(agent.answer.text)) {
    agent.answer.record({ isReported: true, isTaken: true });
    return "known";
  }
  // Earlier ones have been taken without a hook.
  const { expectedPrompts } = agent;
  const typed = expectedPrompts.splice(0, expectedPrompts.findIndex(({ text }) => isReported(text)) + 1).at(-1);
  if (typed === undefined) return undefined;
  desk.echoArrived(typed);
  return typed.answersTurnId !== undefined && typed.answersTurnId === agent.question?.turn.id ? "taken" : "known";
}
