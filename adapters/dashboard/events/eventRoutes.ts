/**
 * `GET /api/events/stream`: the event log as server-sent events (docs/contracts/dashboard.md §4); `GET /api/page/events`: the
 * same with the other machines and their agents, in one stream, and over a WebSocket, because a browser has few connections to
 * one server.
 */
import type { Context } from "hono";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Route } from "../../kit/guard/routes.ts";
import type { EventReader } from "../../kit/streams/eventLog.ts";
import type { OtherMachines } from "../../kit/streams/otherMachines.ts";
import { type EventResponseOptions, eventResponse, eventSocket } from "../../kit/streams/eventResponse.ts";
import { upgradeSocket } from "../../kit/streams/websocket.ts";
import { HEARTBEAT_MS, MAX_EVENT_CLIENTS, RETRY_AFTER_SEC } from "../dashboardLimits.ts";
import type { DashboardParts } from "../dashboardParts.ts";
import { GET } from "../dashboardRoutes.ts";
import type { EventFilter } from "./dashboardEvents.ts";

const HEARTBEAT = ": heartbeat\n\n";

/** Of the page, which may also be asked for as a WebSocket. */
export const PAGE_EVENTS = "/api/page/events";

export const eventRoutes = (parts: DashboardParts): readonly Route[] => [
  {
    ...GET,
    path: "/api/events/stream",
    response: { 200: "text/event-stream", 503: "text/plain" },
    errors: [],
    handle: (c) => openEventStream(parts, c, undefined),
  },
  {
    ...GET,
    path: PAGE_EVENTS,
    response: { 101: "none", 200: "text/event-stream", 503: "text/plain" },
    errors: [],
    handle: (c) => openEventStream(parts, c, parts.machines()),
  },
];

async function openEventStream(
  { events, streams, onError }: DashboardParts,
  c: Context<GuardEnv>,
  machines: OtherMachines | undefined,
): Promise<Response> {
  if (events.readerCount >= MAX_EVENT_CLIENTS) {
    const text = "Service temporarily unavailable - connection limit reached";
    return c.text(text, 503, { "Retry-After": String(RETRY_AFTER_SEC) });
  }
  const [filter, after] = [filterOf(c), afterId(c)];
  const stream: EventResponseOptions = {
    ...streams,
    cacheControl: "no-cache",
    keepAlive: { frame: HEARTBEAT, everyMs: HEARTBEAT_MS },
    first: HEARTBEAT,
    read: (out) => {
      const here = events.read(filter, after, out);
      const there = machines?.readAgents(out);
      return there === undefined ? here : both(here, there);
    },
  };
  const isSocket = c.req.path === PAGE_EVENTS && c.req.header("upgrade")?.toLowerCase() === "websocket";
  const upgraded = isSocket ? await upgradeSocket((socket) => eventSocket(socket, stream), onError)(c) : undefined;
  return upgraded ?? eventResponse(c, stream);
}

const both = (one: EventReader, other: EventReader): EventReader => ({
  pump: () => {
    one.pump();
    other.pump();
  },
  close: () => {
    one.close();
    other.close();
  },
});

function filterOf(c: Context<GuardEnv>): EventFilter {
  const types = (c.req.query("types") ?? "")
    .split(",")
    .map((type) => type.trim())
    .filter((type) => type !== "");
  return {
    types: types.length === 0 ? undefined : new Set(types),
    projectId: wholeNumber(c.req.query("project_id")),
    agentId: wholeNumber(c.req.query("agent_id")),
  };
}

/** A browser that makes a new EventSource cannot set the header. */
const afterId = (c: Context<GuardEnv>): number | undefined =>
  wholeNumber(c.req.header("last-event-id")) ?? wholeNumber(c.req.query("last_event_id"));

/** A value that is no number filters nothing: the contract's clients rely on it. */
const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
