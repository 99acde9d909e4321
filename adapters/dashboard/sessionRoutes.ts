/** `/api/sessions`: agents that a launcher registers before their first hook (docs/contracts/dashboard.md §1). */
import type { Context } from "hono";
import {
  sessionCreatedSchema,
  sessionEndedSchema,
  sessionErrorSchema,
  sessionSchema,
} from "../../protocol/api/dashboard.ts";
import { isPaneId } from "../../protocol/ids.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import { isFound } from "./store/records.ts";
import type { Route } from "../kit/guard/routes.ts";
import { type Agent, openTask } from "./agents/agent.ts";
import { type AgentBook, nameOf, projectPath } from "./agents/agentBook.ts";
import { MAX_NAME_CHARS, SMALL_MAX_BODY_BYTES } from "./dashboardLimits.ts";
import type { DashboardParts } from "./dashboardParts.ts";
import { bodyFields, GET, nameIn, POST } from "./dashboardRoutes.ts";

const SESSION = "/api/sessions/:uuid";

export function sessionRoutes(parts: DashboardParts): readonly Route[] {
  return [
    {
      ...POST,
      path: "/api/sessions",
      maxRawBytes: SMALL_MAX_BODY_BYTES,
      response: { 201: sessionCreatedSchema, 400: sessionErrorSchema, 409: sessionErrorSchema },
      errors: ["RESOURCE_LIMIT"],
      handle: (c) => createSession(parts, c),
    },
    {
      ...GET,
      path: SESSION,
      response: { 200: sessionSchema, 404: sessionErrorSchema },
      errors: ["NOT_FOUND"],
      handle: (c) => getSession(parts, c),
    },
    {
      method: "DELETE",
      path: SESSION,
      auth: true,
      response: { 200: sessionEndedSchema, 404: sessionErrorSchema },
      errors: ["NOT_FOUND", "RESOURCE_LIMIT"],
      handle: (c) => endSession(parts, c),
    },
  ];
}

/** @throws AppError RESOURCE_LIMIT */
function createSession({ store, book, desk, panes }: DashboardParts, c: Context<GuardEnv>): Response {
  const asked = newSessionOf(c.get("raw"));
  if (typeof asked === "string") return c.json({ error: asked }, 400);
  const { uuid, path, pane, text } = asked;
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
  const elsewhere = { tmuxSession: text("tmux_session"), itermPaneId: text("iterm_pane_id") };
  const there = pane === undefined ? undefined : panes.places.inPane(pane);
  // Its card is there already.
  const isThere = there !== undefined && isFound(there.record);
  const agent = isThere ? book.register(there, uuid, project, elsewhere) : book.add(uuid, project, elsewhere);
  desk.reportCreated(agent);
  if (pane !== undefined) panes.moved(agent, pane, undefined);
  if (isThere) panes.refollow(agent);
  desk.refreshCard(agent, "session_created");
  const { id: projectId, name: projectName } = project;
  const ids = { agent_id: agent.record.id, session_uuid: uuid, project_id: projectId, project_name: projectName };
  return c.json({ status: "created", ...ids }, 201);
}

/** What is to be registered, or what is wrong with the request. */
function newSessionOf(bytes: Uint8Array) {
  const body = bodyFields(bytes);
  if (body === undefined || Object.keys(body).length === 0) return "Request body is required";
  const text = (name: string): string | undefined => {
    const value = body[name];
    return typeof value === "string" && value.trim() !== "" && value.length <= MAX_NAME_CHARS
      ? value.trim()
      : undefined;
  };
  const [given, path] = [text("session_uuid"), text("project_path")];
  if (given === undefined || path === undefined) {
    const missing = [given === undefined ? "session_uuid" : "", path === undefined ? "project_path" : ""];
    return `Missing required fields: ${missing.filter((name) => name !== "").join(", ")}`;
  }
  const uuid = uuidOf(given);
  if (uuid === undefined) return "Invalid session_uuid format";
  const pane = text("tmux_pane_id");
  if (pane !== undefined && !isPaneId(pane)) {
    return "Invalid tmux_pane_id format: it is % and a number, as in $TMUX_PANE";
  }
  return { uuid, path, pane, text };
}

/** Its history stays. @throws AppError RESOURCE_LIMIT */
function endSession({ book, desk, panes }: DashboardParts, c: Context<GuardEnv>): Response {
  const agent = agentOf(book, c);
  if (agent instanceof Response) return agent;
  const { id, sessionUuid, endedUnixMs } = agent.record;
  if (endedUnixMs === undefined) {
    panes.ended(agent);
    desk.ended(agent, "session_end");
  }
  return c.json({ status: "ended", session_uuid: sessionUuid, agent_id: id });
}

function getSession({ book }: DashboardParts, c: Context<GuardEnv>): Response {
  const agent = agentOf(book, c);
  if (agent instanceof Response) return agent;
  const { record, project } = agent;
  return c.json({
    session_uuid: record.sessionUuid,
    agent_id: record.id,
    project_id: project.id,
    project_name: project.name,
    iterm_pane_id: record.itermPaneId ?? null,
    tmux_pane_id: record.tmuxPaneId ?? null,
    started_at: new Date(record.startedUnixMs).toISOString(),
    last_seen_at: new Date(record.lastSeenUnixMs).toISOString(),
    state: openTask(agent)?.state ?? "idle",
  });
}

/** The agent of this session, or the refusal. */
function agentOf(book: AgentBook, c: Context<GuardEnv>): Agent | Response {
  const uuid = uuidOf(nameIn(c, "uuid"));
  if (uuid === undefined) return c.json({ error: "Not found" }, 404);
  return book.byUuid(uuid) ?? c.json({ error: `Session ${uuid} not found` }, 404);
}

/** In lower case with dashes; braces and a missing dash are other people's habits. */
function uuidOf(text: string): string | undefined {
  const hex = text
    .toLowerCase()
    .replace(/^urn:uuid:/, "")
    .replaceAll(/[{}-]/g, "");
  return /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/.exec(hex)?.slice(1).join("-");
}
