/** `/api/sessions`: agents that a launcher registers before their first hook (docs/contracts/dashboard.md §1). */
import { parseJsonText } from "../http/jsonText.ts";
import type { Context } from "hono";
import { isPaneId } from "../../protocol/ids.ts";
import type { GuardEnv } from "../http/requestGuard.ts";
import { fieldsOf } from "./agents/questions.ts";
import type { DashboardContext } from "./dashboardContext.ts";
import { nameOf, projectPath } from "./hooks/correlate.ts";
import { MAX_NAME_CHARS } from "./dashboardLimits.ts";

/** @throws AppError RESOURCE_LIMIT */
export function createSession(context: DashboardContext, c: Context<GuardEnv>, bytes: Uint8Array): Response {
  const { book, desk, panes, store, nowUnixMs } = context;
  const body = bodyOf(bytes);
  if (body === undefined || Object.keys(body).length === 0) return c.json({ error: "Request body is required" }, 400);
  const text = (name: string): string | undefined => {
    const value = body[name];
    return typeof value === "string" && value.trim() !== "" && value.length <= MAX_NAME_CHARS
      ? value.trim()
      : undefined;
  };
  const [given, path] = [text("session_uuid"), text("project_path")];
  if (given === undefined || path === undefined) {
    const missing = [given === undefined ? "session_uuid" : "", path === undefined ? "project_path" : ""];
    return c.json({ error: `Missing required fields: ${missing.filter((name) => name !== "").join(", ")}` }, 400);
  }
  const uuid = uuidOf(given);
  if (uuid === undefined) return c.json({ error: "Invalid session_uuid format" }, 400);
  const pane = text("tmux_pane_id");
  if (pane !== undefined && !isPaneId(pane)) {
    return c.json({ error: "Invalid tmux_pane_id format: it is % and a number, as in $TMUX_PANE" }, 400);
  }
  const existing = book.byUuid(uuid);
  if (existing !== undefined) {
    return c.json({ error: `Session ${uuid} already exists`, agent_id: existing.record.id }, 409);
  }
  store.requireWritable();
  const directory = projectPath(path);
  const project = book.putProject({
    path: directory,
    name: text("project_name") ?? nameOf(directory),
    branch: text("git_branch") ?? text("current_branch"),
  });
  const now = nowUnixMs();
  const agent = book.add(
    {
      sessionUuid: uuid,
      claudeSessionId: undefined,
      projectId: project.id,
      tmuxPaneId: undefined,
      paneServer: undefined,
      tmuxSession: text("tmux_session"),
      itermPaneId: text("iterm_pane_id"),
      transcriptPath: undefined,
      startedUnixMs: now,
      lastSeenUnixMs: now,
      endedUnixMs: undefined,
      process: undefined,
    },
    project,
  );
  desk.reportCreated(agent);
  if (pane !== undefined) panes.moved(agent, pane, undefined);
  const created = {
    status: "created",
    agent_id: agent.record.id,
    session_uuid: uuid,
    project_id: project.id,
    project_name: project.name,
  };
  desk.refreshCard(agent, "session_created");
  return c.json(created, 201);
}

/** Its history stays. @throws AppError RESOURCE_LIMIT */
export function endSession(context: DashboardContext, c: Context<GuardEnv>, given: string): Response {
  const { book, desk, panes } = context;
  const uuid = uuidOf(given);
  if (uuid === undefined) return c.json({ error: "Not found" }, 404);
  const agent = book.byUuid(uuid);
  if (agent === undefined) return c.json({ error: `Session ${uuid} not found` }, 404);
  if (agent.record.endedUnixMs === undefined) {
    panes.ended(agent);
    desk.ended(agent, "session_end");
  }
  return c.json({ status: "ended", session_uuid: uuid, agent_id: agent.record.id });
}

export function getSession(context: DashboardContext, c: Context<GuardEnv>, given: string): Response {
  const uuid = uuidOf(given);
  if (uuid === undefined) return c.json({ error: "Not found" }, 404);
  const agent = context.book.byUuid(uuid);
  if (agent === undefined) return c.json({ error: `Session ${uuid} not found` }, 404);
  const { record, project, task } = agent;
  return c.json({
    session_uuid: uuid,
    agent_id: record.id,
    project_id: project.id,
    project_name: project.name,
    iterm_pane_id: record.itermPaneId ?? null,
    tmux_pane_id: record.tmuxPaneId ?? null,
    started_at: new Date(record.startedUnixMs).toISOString(),
    last_seen_at: new Date(record.lastSeenUnixMs).toISOString(),
    state: task === undefined || task.state === "complete" ? "idle" : task.state,
  });
}

function bodyOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    return fieldsOf(parseJsonText(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

/** In lower case with dashes; braces and a missing dash are other people's habits. */
function uuidOf(text: string): string | undefined {
  const hex = text
    .toLowerCase()
    .replace(/^urn:uuid:/, "")
    .replaceAll(/[{}-]/g, "");
  const dashed = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(hex)?.slice(1).join("-");
  return dashed;
}
