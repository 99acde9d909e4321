/** The page's agent routes beyond the contract: all cards, the history, the live pane, and control of it. */
import type { Context } from "hono";
import { isKeyName } from "../../daemon/panes/input/keys.ts";
import type { InputPart } from "../../daemon/tmux/io.ts";
import { AppError } from "../../protocol/errors.ts";
import { isPaneId, type PaneId } from "../../protocol/ids.ts";
import { parsePosition } from "../../protocol/position.ts";
import { alreadySent } from "../kit/guard/alreadySent.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import { openPaneEvents } from "../kit/streams/paneEvents.ts";
import { waitingFields } from "./agents/agentEvents.ts";
import { cardOf } from "./agents/card.ts";
import type { DashboardContext } from "./dashboardContext.ts";
import { MAX_KEYS } from "./dashboardLimits.ts";
import { bodyFields } from "./fields.ts";
import { failureResponse, refusalResponse, type RespondResponse } from "./respond/respondResponse.ts";
import * as failures from "./respond/failures.ts";
import { agentNotFound } from "./respond/respond.ts";
import { usablePane } from "./respond/usablePane.ts";

const MAX_TURNS = 200;

/** `last_event_id`: the event stream after it has all later changes. */
export function listAgents({ book, events, server, nowUnixMs }: DashboardContext, c: Context<GuardEnv>): Response {
  const agents = book.all().map((agent) => cardOf(agent, "list", nowUnixMs()));
  const waiting = waitingFields(server.status().waiting);
  return c.json({ agents, last_event_id: events.lastId, ...(waiting === undefined ? {} : { waiting }) });
}

export function listTurns({ book, store }: DashboardContext, c: Context<GuardEnv>, id: number): Response {
  if (book.find(id) === undefined) return respondWith(c, agentNotFound(id));
  const asked = Number(c.req.query("limit") ?? 50);
  const limit = Number.isInteger(asked) ? Math.min(Math.max(asked, 1), MAX_TURNS) : 50;
  const turns = store.turns(id, limit).map((turn) => ({
    turn_id: turn.id,
    task_id: turn.taskId,
    actor: turn.actor,
    intent: turn.intent,
    text: turn.text,
    tool_input: turn.toolInput ?? null,
    answers_turn_id: turn.answersTurnId ?? null,
    timestamp: new Date(turn.createdUnixMs).toISOString(),
  }));
  return c.json({ turns });
}

export function availability({ book }: DashboardContext, c: Context<GuardEnv>, id: number): Response {
  const agent = book.find(id);
  if (agent === undefined) return respondWith(c, agentNotFound(id));
  return c.json({ status: "ok", agent_id: id, commander_available: agent.isAvailable });
}

/** The native pane stream for this agent's pane. It never resizes anything. */
export async function paneStream(context: DashboardContext, c: Context<GuardEnv>, id: number): Promise<Response> {
  const pane = await livePane(context, id);
  if (typeof pane !== "string") return respondWith(c, pane);
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  // The reader may have gone meanwhile.
  if (outgoing.destroyed) return alreadySent();
  const last = c.req.header("last-event-id");
  openPaneEvents({
    feeds: context.feeds,
    serverName: "user",
    pane,
    start: last === undefined ? { kind: "snapshot" } : { kind: "position", position: parsePosition(last) },
    outgoing,
    headers: Object.fromEntries(c.body(null).headers),
    clock: context.clock,
    bounds: context.streamBounds,
    open: context.open,
  });
  return alreadySent();
}

/** Keystrokes of a person who has taken control: `{text}` byte for byte, escape sequences included, or `{keys}`. */
export async function paneInput(
  context: DashboardContext,
  c: Context<GuardEnv>,
  id: number,
  bytes: Uint8Array,
): Promise<Response> {
  const part = inputPart(bytes);
  if (part === undefined) {
    const message = `Give text, or keys: a list of 1 to ${MAX_KEYS} key names such as Enter, C-c or Up.`;
    return respondWith(c, refusalResponse(400, "invalid_input", message));
  }
  const pane = await livePane(context, id);
  if (typeof pane !== "string") return respondWith(c, pane);
  try {
    await context.server.input(pane, [part]);
  } catch (error) {
    return respondWith(c, failureResponse(failures.failureOf(error), undefined));
  }
  return c.json({ status: "ok", agent_id: id });
}

function inputPart(bytes: Uint8Array): InputPart | undefined {
  const { text, keys } = bodyFields(bytes) ?? {};
  if (typeof text === "string" && text !== "") return { kind: "text", bytes: new TextEncoder().encode(text) };
  if (!Array.isArray(keys) || keys.length === 0 || keys.length > MAX_KEYS) return undefined;
  const names = (keys as readonly unknown[]).filter((key) => typeof key === "string" && isKeyName(key));
  return names.length === keys.length ? { kind: "keys", keys: names as readonly string[] } : undefined;
}

async function livePane(context: DashboardContext, id: number): Promise<PaneId | RespondResponse> {
  const agent = context.book.find(id);
  if (agent === undefined) return agentNotFound(id);
  const { tmuxPaneId } = agent.record;
  if (tmuxPaneId === undefined || !isPaneId(tmuxPaneId)) {
    return refusalResponse(400, "no_pane_id", "Agent has no tmux pane ID — cannot show or use its pane.");
  }
  const pane = await usablePane(context, agent, tmuxPaneId);
  return typeof pane === "string" ? pane : failureResponse(pane, undefined);
}

export const respondWith = (c: Context<GuardEnv>, { status, body }: RespondResponse): Response => c.json(body, status);
