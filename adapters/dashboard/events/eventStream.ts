/** `GET /api/events/stream`: the event log as server-sent events (docs/contracts/dashboard.md §4). */
import type { Context } from "hono";
import { AppError } from "../../../protocol/errors.ts";
import { alreadySent } from "../../kit/guard/alreadySent.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import { SseWriter } from "../../kit/streams/sseWriter.ts";
import type { DashboardContext } from "../dashboardContext.ts";
import { HEARTBEAT_MS, MAX_EVENT_CLIENTS, RETRY_AFTER_SEC } from "../dashboardLimits.ts";
import type { EventReader } from "../../kit/streams/eventLog.ts";
import type { EventFilter } from "./dashboardEvents.ts";

const HEARTBEAT = ": heartbeat\n\n";

export function openEventStream(context: DashboardContext, c: Context<GuardEnv>): Response {
  const { events, clock, open } = context;
  if (events.readerCount >= MAX_EVENT_CLIENTS) {
    const text = "Service temporarily unavailable - connection limit reached";
    return c.text(text, 503, { "Retry-After": String(RETRY_AFTER_SEC) });
  }
  const { outgoing } = c.env;
  if (outgoing === undefined) throw new AppError("INTERNAL_ERROR", "a stream needs a connection");
  let reader: EventReader | undefined;
  const end = (): void => {
    open.delete(end);
    reader?.close();
    writer.end();
  };
  const writer = new SseWriter({
    outgoing,
    headers: Object.fromEntries(c.body(null).headers),
    clock,
    cacheControl: "no-cache",
    keepAlive: { frame: HEARTBEAT, everyMs: HEARTBEAT_MS },
    onDrain: () => reader?.pump(),
    onClose: end,
    ...context.streamBounds,
  });
  open.add(end);
  writer.write(HEARTBEAT);
  reader = events.read(filterOf(c), afterId(c), { room: () => writer.room(), write: (frame) => writer.write(frame) });
  reader.pump();
  return alreadySent();
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
