/** Makes routes from the endpoint table: operations are performed, the other endpoints have their handlers here. */
import type { WebSocket } from "ws";
import type { NativeOk } from "../../protocol/api/nativeResponses.ts";
import { STREAM_BEARER_PREFIX } from "../../protocol/api/nativeFrames.ts";
import { IDEMPOTENCY_KEY_HEADER } from "../../protocol/api/nativeDelivery.ts";
import { eventsQuerySchema, NATIVE_MAX_BODY_BYTES, streamQuerySchema } from "../../protocol/api/nativeRequests.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError } from "../../protocol/errors.ts";
import { visibleError } from "../http/httpErrors.ts";
import { longResponse } from "../http/longResponse.ts";
import { streamedResponse, wantsLines } from "../http/streamedResponse.ts";
import { type Route, type RouteHandler, Routes } from "../http/routes.ts";
import { upgradeSocket } from "../http/websocket.ts";
import { findPane, findServer } from "../operations/findTargets.ts";
import { streamStart } from "../operations/inputs.ts";
import { perform } from "../operations/perform.ts";
import { recordingResponse } from "../operations/recordingOperations.ts";
import { statesNow } from "../operations/serverOperations.ts";
import type { NativeContext, NativeHandlerContext } from "./nativeContext.ts";
import { type Endpoint, ENDPOINTS, type OperationEndpoint, type OtherEndpointId } from "./endpoints.ts";
import { openEventStream } from "./paneEventStream.ts";
import { errorBody } from "./errorBody.ts";
import { mcpRoutes } from "./mcpRoutes.ts";
import { queryInput } from "./queryInput.ts";
import { openServerEvents } from "./serverEventStream.ts";
import { StreamSocket } from "./streamSocket.ts";

interface NativeRouteParts {
  /** The OpenAPI document. */
  readonly document: string;
  /** The daemon's. */
  readonly version: string;
  readonly renderMetrics: () => string;
  /** Open WebSockets. */
  readonly sockets: Set<WebSocket>;
}

export function nativeRoutes(context: NativeContext, parts: NativeRouteParts): Routes {
  const others = otherHandlers(context, parts);
  return new Routes([
    ...ENDPOINTS.map((endpoint) =>
      routeOf(endpoint, endpoint.operation === undefined ? others[endpoint.id] : performing(context, endpoint)),
    ),
    ...mcpRoutes(context, parts.version),
  ]);
}

/** The guard's rule follows from the row. */
export function routeOf({ id, method, path, auth, body }: Endpoint, handle: RouteHandler): Route {
  return {
    method,
    path,
    auth,
    handle,
    ...(body === undefined ? {} : { maxJsonBytes: NATIVE_MAX_BODY_BYTES }),
    ...(id === "socket" ? { bearerProtocolPrefix: STREAM_BEARER_PREFIX } : {}),
  };
}

const shownError = (error: unknown): object => errorBody(visibleError(error));

function performing(context: NativeContext, { id, operation, body, query, status }: OperationEndpoint): RouteHandler {
  const inputOf = (c: NativeHandlerContext): unknown =>
    body === undefined ? (query === undefined ? {} : queryInput(query, c.req.query())) : c.get("json");
  const { long = false, streams = false, idempotent = false } = operation;
  return async (c, names) => {
    const idempotencyKey = idempotent ? c.req.header(IDEMPOTENCY_KEY_HEADER) : undefined;
    const work = (signal?: AbortSignal, listener: object = {}): Promise<object> =>
      perform(context, id, {
        names,
        input: inputOf(c),
        signal,
        idempotencyKey,
        requestId: c.get("requestId"),
        ...listener,
      });
    if (streams && wantsLines(c)) return streamedResponse(c, { clock: context.clock, errorBody: shownError }, work);
    return long
      ? longResponse(c, { clock: context.clock, errorBody: shownError }, work)
      : c.json(await work(), status ?? 200);
  };
}

const OK: NativeOk = { ok: true };
const METRICS_TYPE = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

function otherHandlers(
  context: NativeContext,
  { document, renderMetrics, sockets }: NativeRouteParts,
): Readonly<Record<OtherEndpointId, RouteHandler>> {
  const { servers, measure } = context;
  const upgrade = upgradeTo(context, sockets);
  const measured =
    (name: OtherEndpointId, handle: RouteHandler): RouteHandler =>
    (c, names) =>
      measure(name, () => handle(c, names), c.get("requestId"));
  return {
    follow: measured("follow", async (c, { server: serverName = "", pane = "" }) => {
      await context.onDemand?.reach(serverName);
      const server = findServer(servers, serverName);
      const target = { serverName, server, pane: findPane(server, pane) };
      const {
        from = "now",
        readiness = false,
        input = false,
      } = parse(streamQuerySchema, queryInput(streamQuerySchema, c.req.query()));
      return openEventStream(context, c, target, { start: streamStart(lastEventId(c) ?? from), readiness, input });
    }),
    serverEvents: measured("serverEvents", async (c, { server = "" }) => {
      await context.onDemand?.reach(server);
      const found = findServer(servers, server);
      const { after, readiness = false } = parse(eventsQuerySchema, queryInput(eventsQuerySchema, c.req.query()));
      return openServerEvents(context, c, found, { after: lastEventId(c) ?? after, readiness });
    }),
    socket: async (c) => (await upgrade(c, refuseRequest)) ?? refuseRequest(),
    recordingFile: measured("recordingFile", (_c, { recording = "" }) => recordingResponse(context, recording)),
    openapi: (c) => c.body(document, 200, { "content-type": "application/json" }),
    metrics: (c) => c.text(renderMetrics(), 200, METRICS_TYPE),
    livez: measured("livez", (c) => c.json(OK)),
    readyz: measured("readyz", async (c) => {
      const opened = context.onDemand?.opened;
      const states = await statesNow(new Map([...servers].filter(([name]) => opened?.has(name) !== true)));
      const ok = states.every(([, state]) => state === "ready");
      return c.json({ ok, servers: Object.fromEntries(states) }, ok ? 200 : 503);
    }),
  };
}

function lastEventId(c: NativeHandlerContext): string | undefined {
  const given = c.req.header("last-event-id");
  return given === "" ? undefined : given;
}

function upgradeTo(context: NativeContext, sockets: Set<WebSocket>) {
  const onError = (error: unknown): void => context.log.error("native.socket.failed", { error });
  const connect = (socket: WebSocket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    return new StreamSocket(context, socket);
  };
  return upgradeSocket(connect, onError);
}

function refuseRequest(): never {
  throw new AppError("INVALID_ARGUMENT", "this route is a WebSocket: send an upgrade request");
}
