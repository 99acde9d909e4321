/**
 * The native API's application: the guard, the routes of the endpoint table, and errors in one shape. Call `close`, which
 * ends every stream, before the listener's, because a stream's connection never ends by itself.
 */
import { randomBytes } from "node:crypto";
import { type Context, Hono } from "hono";
import type { WebSocket } from "ws";
import { Metrics } from "../../daemon/ops/metrics.ts";
import { Feeds } from "../../daemon/panes/feeds.ts";
import { runCommand } from "../../daemon/shell/runCommand.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import { VERSION_HEADER } from "../../protocol/api/operationRoutes.ts";
import { STREAM_MAX_MESSAGE_BYTES, STREAM_PROTOCOL } from "../../protocol/api/native/nativeFrames.ts";
import { errorHandler } from "../kit/guard/httpErrors.ts";
import { createGuard, type GuardEnv, type Refused, setHeader } from "../kit/guard/requestGuard.ts";
import { type Mount, serveRoutes } from "../kit/guard/routes.ts";
import { STREAM_BUFFER_BYTES, STREAM_STALL_MS } from "../kit/streams/streamLimits.ts";
import { createWebSocketServer, type WebSocketRoutes } from "../kit/streams/websocket.ts";
import { collectProcess } from "../../daemon/ops/processMetrics.ts";
import { createMeasure } from "../operations/measure.ts";
import { Channels } from "./channels.ts";
import type { NativeContext, NativeWaits, StreamBounds } from "./nativeContext.ts";
import { errorBody } from "../kit/operations/errorBody.ts";
import { nativeMetrics } from "./nativeMetrics.ts";
import { nativeRoutes, WEBSOCKET_PATHS } from "./nativeRoutes.ts";
import { ServerEvents, type ServerEventsOptions } from "../kit/streams/serverEvents.ts";

/** Refusals of a request for where it comes from; each names the setting that would allow it. */
export const FORBIDDEN = {
  peer: "requests from other machines are not allowed; see --allow-hosts",
  host: "this Host is not allowed; add it to --allow-hosts or TMUXWIRE_ALLOWED_HOSTS",
  origin: "pages of this Origin may not use the API; add it to TMUXWIRE_ALLOWED_ORIGINS",
} as const satisfies Record<Refused, string>;

/** Servers may be added and removed while the application runs; the caller closes what it passes in. */
export interface NativeAppOptions
  extends
    Pick<NativeContext, "servers" | "clock" | "log">,
    Partial<
      Pick<
        NativeContext,
        | "onDemand"
        | "readiness"
        | "delivery"
        | "recordings"
        | "agents"
        | "agentWork"
        | "messages"
        | "timeline"
        | "remote"
        | "notifier"
        | "unconfigured"
        | "restart"
        | "running"
      >
    > {
  readonly waits: NativeWaits;
  /** Absent: everyone who can connect has full access. */
  readonly token?: string | undefined;
  /** The process's one registry; the API's metric families are added to it. */
  readonly metrics?: Metrics | undefined;
  /** `any` for a unix socket. */
  readonly peers?: "loopback" | "any" | undefined;
  /** Allowed hosts besides the loopback ones, and allowed browser origins. */
  readonly hosts?: ReadonlySet<string> | undefined;
  readonly origins?: ReadonlySet<string> | undefined;
  readonly version?: string | undefined;
  /** How many of a server's events are kept; tests use fewer. */
  readonly eventBounds?: Pick<ServerEventsOptions, "maxEvents" | "maxChars"> | undefined;
  readonly streamBounds?: Partial<StreamBounds> | undefined;
  /** Other contracts, served behind the same guard and token. */
  readonly mounts?: readonly Mount[] | undefined;
}

export interface NativeApp {
  readonly app: Hono<GuardEnv>;
  /** For `ListenOptions.websocket`. */
  readonly websocket: WebSocketRoutes;
  /** Ends every stream; call it before the listener's `close`. Safe to call twice. */
  close(): void;
}

export function createNativeApp(options: NativeAppOptions): NativeApp {
  const { servers, waits, clock, log, token, version = "0" } = options;
  const registry = options.metrics ?? new Metrics();
  const { readiness, agents, eventBounds } = options;
  const onError = (error: unknown): void => log.error("native.subscriber.failed", { error });
  const feedsOf = oncePerServer((server) => new Feeds({ server, clock, onError }));
  const eventsOf = oncePerServer(
    (server) => new ServerEvents({ server, readiness, agents, clock, onError, ...eventBounds }),
  );
  const sockets = new Set<WebSocket>();
  collectProcess(registry, version);
  const metrics = nativeMetrics(registry, {
    servers,
    waits,
    subscribers: (server) => feedsOf(server).subscriberCount,
    sockets: () => sockets.size,
  });
  const nextId = requestIds();
  const context: NativeContext = {
    servers,
    onDemand: options.onDemand,
    waits,
    runCommand,
    clock,
    log,
    metrics,
    feedsOf,
    eventsOf,
    treeOf: (server) => eventsOf(server).tree(),
    measure: createMeasure({ metrics: registry, clock, log, nextId }),
    channels: new Channels(),
    running: options.running ?? new WeakMap(),
    readiness,
    delivery: options.delivery,
    recordings: options.recordings,
    agents: options.agents,
    agentWork: options.agentWork,
    messages: options.messages,
    timeline: options.timeline,
    remote: options.remote,
    notifier: options.notifier,
    restart: options.restart,
    unconfigured: options.unconfigured ?? new Set(),
    bounds: { stallMs: STREAM_STALL_MS, bufferBytes: STREAM_BUFFER_BYTES, ...options.streamBounds },
    open: new Set(),
  };

  const routes = nativeRoutes(context, {
    version,
    renderMetrics: () => registry.render(),
    sockets,
  });
  const app = new Hono<GuardEnv>();
  const { mounts = [] } = options;
  const mountOf = (path: string): Mount | undefined => mounts.find(({ prefix }) => path.startsWith(prefix));
  const onNativeError = errorHandler(log, errorBody);
  const onMountError = new Map(mounts.map((mount) => [mount, errorHandler(log, mount.errorBody)]));
  app.onError((error, c) => {
    const mount = mountOf(c.req.path);
    return ((mount === undefined ? undefined : onMountError.get(mount)) ?? onNativeError)(error, c);
  });
  const guard = createGuard({
    peers: options.peers ?? "loopback",
    hosts: options.hosts ?? new Set(),
    origins: options.origins ?? new Set(),
    missingOrigin: "allow",
    token,
    onForbidden: (_, what) => {
      throw new AppError("FORBIDDEN", FORBIDDEN[what]);
    },
    nameRequest: nameRequests(nextId, options.version),
    corsMethods: "GET,POST,DELETE,OPTIONS",
    clock,
  });
  serveRoutes(app, guard, [...routes, ...mounts.flatMap((mount) => mount.routes)]);
  const websocket = createWebSocketServer({
    paths: WEBSOCKET_PATHS,
    protocol: STREAM_PROTOCOL,
    maxMessageBytes: STREAM_MAX_MESSAGE_BYTES,
    clock,
  });
  return {
    app,
    websocket,
    close: () => {
      // The listener destroys connections whose client does not read this, or does not close, within its grace period.
      for (const end of context.open) end();
    },
  };
}

function oncePerServer<Made>(make: (server: TmuxServer) => Made): (server: TmuxServer) => Made {
  const made = new WeakMap<TmuxServer, Made>();
  return (server) => {
    const known = made.get(server) ?? make(server);
    made.set(server, known);
    return known;
  };
}

const REQUEST_ID_HEADER = "X-Request-Id";
const PLAIN = /^[\w.-]{1,64}$/;

/** Ids unique within this process and, by a random prefix, across processes. */
function requestIds(): () => string {
  const prefix = randomBytes(4).toString("hex");
  let count = 0;
  return () => `${prefix}-${(count += 1).toString(36)}`;
}

/**
 * Gives each request an id, in its response and in the log: the caller's own if it has safe characters only. Says which
 * version responds, so that a client of another one can tell what it means that something is unknown.
 */
const nameRequests =
  (nextId: () => string, version: string | undefined) =>
  (c: Context<GuardEnv>): void => {
    const given = c.req.header(REQUEST_ID_HEADER) ?? "";
    const id = PLAIN.test(given) ? given : nextId();
    c.set("requestId", id);
    setHeader(c, REQUEST_ID_HEADER, id);
    if (version !== undefined) setHeader(c, VERSION_HEADER, version);
  };
