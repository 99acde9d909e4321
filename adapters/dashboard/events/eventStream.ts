/** `GET /api/events/stream`: the event log as server-sent events (docs/contracts/dashboard.md §4). */
import type { Context } from "hono";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import { eventResponse } from "../../kit/streams/eventResponse.ts";
import type { DashboardContext } from "../dashboardContext.ts";
import { HEARTBEAT_MS, MAX_EVENT_CLIENTS, RETRY_AFTER_SEC } from "../dashboardLimits.ts";
import type { EventFilter } from "./dashboardEvents.ts";

const HEARTBEAT = ": heartbeat\n\n";

export function openEventStream(context: DashboardContext, c: Context<GuardEnv>): Response {
  const { events, clock, open } = context;
  if (events.readerCount >= MAX_EVENT_CLIENTS) {
    const text = "Service temporarily unavailable - connection limit reached";
    return c.text(text, 503, { "Retry-After": String(RETRY_AFTER_SEC) });
  }
  return eventResponse(c, {
    clock,
    open,
    cacheControl: "no-cache",
    keepAlive: { frame: HEARTBEAT, everyMs: HEARTBEAT_MS },
    first: HEARTBEAT,
    ...context.streamBounds,
    read: (out) => events.read(filterOf(c), afterId(c), { room: () => out.room(), write: (frame) => out.write(frame) }),
  });
}

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
