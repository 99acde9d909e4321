/** Makes routes from the endpoint table: operations are performed; the handlers of the other endpoints are here. */
import * as v from "valibot";
import type { WebSocket } from "ws";
import type { StreamStart } from "../../daemon/panes/subscription.ts";
import type { PaneInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import {
  DEFAULT_DRAIN_SEC,
  type NativeDaemon,
  type NativeRestarting,
  restartSchema,
} from "../../protocol/api/native/nativeRestart.ts";
import type { NativeOk } from "../../protocol/api/native/nativeResponses.ts";
import { STREAM_BEARER_PREFIX } from "../../protocol/api/native/nativeFrames.ts";
import {
  eventsQuerySchema,
  NATIVE_MAX_BODY_BYTES,
  streamQuerySchema,
} from "../../protocol/api/native/nativeRequests.ts";
import { parse } from "../../protocol/api/parse.ts";
import { AppError, invalidArgument, shuttingDown } from "../../protocol/errors.ts";
import { eventResponse } from "../kit/streams/eventResponse.ts";
import { paneEventResponse } from "../kit/streams/paneEvents.ts";
import { sseEvent, type SseWriter } from "../kit/streams/sseWriter.ts";
import type { RouteHandler } from "../kit/guard/requestGuard.ts";
import type { Route } from "../kit/guard/routes.ts";
import { upgradeSocket } from "../kit/streams/websocket.ts";
import { findPaneOrAgent, findServer } from "../operations/findTargets.ts";
import { streamStart } from "../operations/panes/inputs.ts";
import { nativeReadiness } from "../operations/outputs.ts";
import { openUsersServer, requireAgents } from "../operations/agents/agentOperations.ts";
import { AgentEventReader } from "../kit/streams/agentEventReader.ts";
import { hostEventResponse } from "../remote/hostStreams.ts";
import type { RemoteHost } from "../remote/remoteHost.ts";
import { ReadinessStream, requireReadiness } from "../operations/panes/readinessAsked.ts";
import { recordingResponse } from "../operations/panes/recordingOperations.ts";
import { statesNow } from "../operations/serverOperations.ts";
import type { McpEndpoint } from "./mcp/mcpEndpoint.ts";
import type { NativeContext, NativeHandlerContext } from "./nativeContext.ts";
import { openApiDocument } from "./openapi.ts";
import { ENDPOINTS, OTHER_TYPES, type OtherEndpointId } from "./endpoints.ts";
import { endpointRoute, operationRoute } from "../kit/operations/operationEndpoints.ts";
import type { EventWishes } from "../kit/streams/serverEvents.ts";
import { queryInput } from "../operations/queryInput.ts";
import { StreamSocket } from "./streamSocket.ts";

const MCP_PATH = "/mcp";

/** The paths of the WebSocket routes. */
export const WEBSOCKET_PATHS: readonly string[] = [
  ...ENDPOINTS.flatMap(({ id, path }) => (id === "socket" ? [path] : [])),
  MCP_PATH,
];

interface NativeRouteParts {
  /** The daemon's version. */
  readonly version: string;
  readonly renderMetrics: () => string;
  /** Open WebSockets. */
  readonly sockets: Set<WebSocket>;
}

export function nativeRoutes(context: NativeContext, parts: NativeRouteParts): readonly Route[] {
  const others = otherHandlers(context, parts);
  return [
    ...ENDPOINTS.map((endpoint) => {
      if (endpoint.operation !== undefined) return operationRoute(context, endpoint);
      const { id, response } = endpoint;
      const shape = typeof response === "string" ? OTHER_TYPES[response] : response;
      const route = endpointRoute(endpoint, shape, others[id]);
      return id === "socket" ? { ...route, bearerProtocolPrefix: STREAM_BEARER_PREFIX } : route;
    }),
    ...mcpRoutes(context, parts.version),
  ];
}

const OK: NativeOk = { ok: true };
const METRICS_TYPE = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };

function otherHandlers(
  context: NativeContext,
  { version, renderMetrics, sockets }: NativeRouteParts,
): Readonly<Record<OtherEndpointId, RouteHandler>> {
  const { servers, measure } = context;
  const upgrade = upgradeTo(context, sockets);
  /** Made when it is first asked for, which takes some 20 ms. */
  let document: string | undefined;
  const measured =
    (name: OtherEndpointId, handle: RouteHandler): RouteHandler =>
    (c) =>
      measure(name, () => handle(c), c.get("requestId"));
  return {
    follow: measured("follow", async (c) => {
      const { server: serverName = "", pane = "" } = c.req.param();
      const theirs = context.remote?.find({ server: serverName, pane });
      if (theirs !== undefined) {
        const { server = "", pane: name = "" } = theirs.names;
        return followElsewhere(context, c, theirs.host, ["panes", name, "stream"], server, lastEventId(c));
      }
      await context.onDemand?.reach(serverName);
      const target = findPaneOrAgent(context, serverName, pane);
      const {
        from = "now",
        readiness = false,
        input = false,
      } = parse(streamQuerySchema, queryInput(streamQuerySchema, c.req.query()));
      return openEventStream(context, c, target, { start: streamStart(lastEventId(c) ?? from), readiness, input });
    }),
    serverEvents: measured("serverEvents", async (c) => {
      const { server = "" } = c.req.param();
      const theirs = context.remote?.find({ server });
      if (theirs !== undefined)
        return followElsewhere(context, c, theirs.host, ["events"], theirs.names.server, lastEventId(c));
      await context.onDemand?.reach(server);
      const found = findServer(servers, server);
      const { after, ...wishes } = parse(eventsQuerySchema, queryInput(eventsQuerySchema, c.req.query()));
      return openServerEvents(context, c, found, { after: lastEventId(c) ?? after, wishes });
    }),
    agentEvents: measured("agentEvents", async (c) => {
      const agents = requireAgents(context);
      await openUsersServer(context, undefined);
      // Directories and branches cause no event.
      await agents.refresh();
      const { messages } = context;
      return eventStream(context, c, (out) => new AgentEventReader({ agents, messages, out }));
    }),
    socket: async (c) => (await upgrade(c)) ?? refuseRequest(),
    recordingFile: measured("recordingFile", (c) => recordingResponse(context, c.req.param("recording") ?? "")),
    daemon: measured("daemon", (c) => c.json(daemonNow(version))),
    restart: measured("restart", async (c) => c.json(await restartFrom(context, c))),
    openapi: (c) =>
      c.body((document ??= JSON.stringify(openApiDocument(version))), 200, { "content-type": "application/json" }),
    metrics: (c) => c.text(renderMetrics(), 200, METRICS_TYPE),
    livez: measured("livez", (c) => c.json(OK)),
    readyz: measured("readyz", async (c) => {
      const configured = [...servers].filter(([name]) => !context.unconfigured.has(name));
      const states = await statesNow(new Map(configured));
      const ok = states.every(([, state]) => state === "ready");
      return c.json({ ok, servers: Object.fromEntries(states) }, ok ? 200 : 503);
    }),
  };
}

const daemonNow = (version: string): NativeDaemon => ({
  version,
  node: process.versions.node,
  pid: process.pid,
  startedUnixMs: Math.round(performance.timeOrigin),
});

/** A port has a token, and maybe peers on other machines: they must not choose which program runs. @throws AppError FORBIDDEN */
function restartFrom({ restart }: NativeContext, c: NativeHandlerContext): Promise<NativeRestarting> {
  const isUnixSocket = c.env.incoming?.socket.remoteAddress === undefined;
  if (restart === undefined || !isUnixSocket) {
    throw new AppError(
      "FORBIDDEN",
      "the daemon restarts only for its unix socket; run `tmuxwire restart` on its machine",
    );
  }
  const { timeoutSec = DEFAULT_DRAIN_SEC, ...program } = parse(restartSchema, c.get("json"));
  return restart(program, timeoutSec * 1_000);
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
  throw invalidArgument("this route is a WebSocket: send an upgrade request");
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === "ERR_MODULE_NOT_FOUND";

/** An upgrade of the package under a daemon that runs. */
const replaced = (): AppError =>
  new AppError(
    "INCONSISTENT_STATE",
    "the files of this daemon were replaced since it started, and it cannot load what MCP needs; run `tmuxwire restart`",
    { details: { reason: "replaced" } },
  );

/** MCP's routes on the native listener. Their code is loaded with the first request. */
function mcpRoutes(context: NativeContext, version: string): readonly Route[] {
  let loading: Promise<McpEndpoint> | undefined;
  const endpoint = (): Promise<McpEndpoint> =>
    (loading ??= import("./mcp/mcpEndpoint.ts").then(
      ({ createMcpEndpoint }) => createMcpEndpoint(context, version),
      (error: unknown) => {
        loading = undefined;
        throw isMissing(error) ? replaced() : error;
      },
    ));
  const handle: RouteHandler = async (c) => (await endpoint()).handle(c);
  const connect: RouteHandler = async (c) => {
    const open = (await endpoint()).admit(c.req.query());
    const onError = (error: unknown): void => context.log.error("mcp.socket.failed", { error });
    return (await upgradeSocket(open, onError)(c)) ?? handle(c);
  };
  // JSON-RPC, which MCP's own tests check: a response, or events.
  const response = {
    200: "*/*",
    202: "none",
    400: v.unknown(),
    404: v.unknown(),
    405: v.unknown(),
    // The client has left.
    499: "none",
  } as const;
  const rule = {
    path: MCP_PATH,
    auth: true,
    response,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", "INCONSISTENT_STATE"],
  } as const;
  return [
    { ...rule, method: "POST", maxJsonBytes: NATIVE_MAX_BODY_BYTES, handle },
    {
      ...rule,
      method: "GET",
      handle: (c) => (c.req.header("upgrade")?.toLowerCase() === "websocket" ? connect(c) : handle(c)),
    },
    { ...rule, method: "DELETE", handle },
  ];
}

const TRANSPORT = { transport: "sse" } as const;

interface EventStreamStart {
  readonly start: StreamStart;
  /** Report readiness as well. */
  readonly readiness: boolean;
  /** Report input as well. */
  readonly input: boolean;
}

/**
 * `GET …/stream`: one pane's output as server-sent events. A request that cannot be served gets an ordinary error response.
 * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST
 */
function openEventStream(
  context: NativeContext,
  c: NativeHandlerContext,
  target: { readonly serverName: string; readonly server: TmuxServer; readonly pane: PaneInfo },
  { start, readiness, input }: EventStreamStart,
): Response {
  const { metrics, clock, open, bounds } = context;
  const { serverName, server, pane } = target;
  return paneEventResponse(c, {
    clock,
    open,
    ...bounds,
    feeds: context.feedsOf(server),
    serverName,
    pane: pane.id,
    start,
    input,
    companion: readiness
      ? ({ room, send }) =>
          new ReadinessStream(context, server, pane.id, {
            room,
            send: (state) => send("readiness", nativeReadiness(state)),
          })
      : undefined,
    observe: {
      output: (chunk) => metrics.streamBytes.add(chunk.to - chunk.from, TRANSPORT),
      gap: (gap) => metrics.streamGaps.add(1, { reason: gap.reason }),
      snapshot: () => metrics.streamSnapshots.add(),
      stalled: () => metrics.streamsStalled.add(1, TRANSPORT),
    },
  });
}

/** The same from another machine. @param path behind the server's @throws AppError as of the daemon there */
function followElsewhere(
  { clock, bounds, open, metrics }: NativeContext,
  c: NativeHandlerContext,
  host: RemoteHost,
  path: readonly string[],
  server: string | undefined,
  after: string | undefined,
): Promise<Response> {
  return hostEventResponse(c, host, {
    path: ["v1", "servers", server ?? "", ...path],
    lastEventId: after,
    clock,
    open,
    ...bounds,
    last: closedEvent,
    onStalled: () => metrics.streamsStalled.add(1, TRANSPORT),
  });
}

/** A reader that falls behind catches up from the kept events, or is sent the whole tree again. */
function openServerEvents(
  context: NativeContext,
  c: NativeHandlerContext,
  server: TmuxServer,
  { after, wishes }: { readonly after: string | undefined; readonly wishes: EventWishes },
): Response {
  if (wishes.readiness === true) requireReadiness(context);
  if (wishes.agents === true) requireAgents(context);
  return eventStream(context, c, (out) => {
    const send = (event: string, data: string, id: string): void => out.write(sseEvent(event, data, id));
    return context.eventsOf(server).open({ room: () => out.room(), send }, after, wishes);
  });
}

function eventStream(
  { clock, bounds, open, metrics }: NativeContext,
  c: NativeHandlerContext,
  read: Parameters<typeof eventResponse>[1]["read"],
): Response {
  const onStalled = (): void => metrics.streamsStalled.add(1, TRANSPORT);
  return eventResponse(c, { clock, open, ...bounds, last: closedEvent, onStalled, read });
}

function closedEvent(out: Pick<SseWriter, "write">): void {
  const { code, message } = shuttingDown();
  out.write(sseEvent("closed", JSON.stringify({ type: "closed", code, message })));
}
