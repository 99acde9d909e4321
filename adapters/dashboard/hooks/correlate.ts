/** Which agent a hook belongs to (docs/contracts/dashboard.md §3): the first match wins. */
import { randomUUID } from "node:crypto";
import { type Agent, openTask } from "../agents/agent.ts";
import type { AgentBook } from "../agents/agentBook.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import type { PaneLinks } from "../panes/paneLinks.ts";
import type { HookRequest } from "./hookRequest.ts";

export interface Correlation {
  readonly agent: Agent;
  readonly isNew: boolean;
  readonly method:
    | "session_id"
    | "db_session_id"
    | "headspace_session_id"
    | "tmux_pane_id"
    | "working_directory"
    | "created";
}

/** Whether its agent is found without its pane. */
export function isKnown({ sessionId, headspaceSessionId }: HookRequest, book: AgentBook): boolean {
  if (book.bySession(sessionId) !== undefined) return true;
  return headspaceSessionId !== undefined && book.byUuid(headspaceSessionId.toLowerCase()) !== undefined;
}

/** Undefined: unknown, and in no project. @throws AppError RESOURCE_LIMIT */
export function correlate(hook: HookRequest, context: DashboardParts): Correlation | undefined {
  const { book, panes } = context;
  const known = book.bySession(hook.sessionId);
  if (known !== undefined) {
    const agent = book.reopen(known.agent);
    return { agent, isNew: false, method: known.isCached ? "session_id" : "db_session_id" };
  }
  const uuid = hook.headspaceSessionId?.toLowerCase();
  const launched = uuid === undefined ? undefined : book.byUuid(uuid);
  if (launched !== undefined) return claim(context, hook, book.reopen(launched), "headspace_session_id");
  const place = panes.places.placeOf(hook);
  const inPane = hook.pane === undefined || place === "elsewhere" ? undefined : panes.places.inPane(hook.pane);
  if (inPane !== undefined && !isStartedBy(inPane, hook, panes)) return claim(context, hook, inPane, "tmux_pane_id");
  const registers = context.settings.registersProjects && place === "ours";
  const project = book.projectOf(hook.workingDirectory ?? hook.cwd, registers);
  if (project === undefined) return undefined;
  const unclaimed = book.unclaimedIn(project);
  if (unclaimed !== undefined) return claim(context, hook, unclaimed, "working_directory");
  const agent = book.add(randomUUID(), project, { agentSessionId: hook.sessionId });
  return { agent, isNew: true, method: "created" };
}

/**
 * A session that begins during an agent's turn, while that agent is in its pane, was started by that agent. One that goes on
 * with an earlier conversation (some say so of every one) may also be the agent's own next one: not while it works.
 */
const isStartedBy = (agent: Agent, { source }: HookRequest, panes: PaneLinks): boolean =>
  (source === "startup" || (source === "resume" && isWorking(agent))) &&
  openTask(agent) !== undefined &&
  panes.places.isReachable(agent);

/** An agent whose plugin tells of it may have several sessions at a time. */
const isWorking = ({ task, readiness, running }: Agent): boolean =>
  task?.state !== "awaiting_input" &&
  readiness?.state === "busy" &&
  running !== undefined &&
  running.kind.hooks?.install !== "plugin";

function claim({ book }: DashboardParts, hook: HookRequest, agent: Agent, method: Correlation["method"]): Correlation {
  if (agent.record.agentSessionId !== hook.sessionId) book.update(agent, { agentSessionId: hook.sessionId });
  return { agent, isNew: false, method };
}
