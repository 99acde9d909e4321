/**
 * Freshell's application: the guard, the routes of its contract, its WebSocket, and the parts behind them. It has an
 * owned tmux server; terminals of an earlier start are restored before it listens.
 */
import { randomUUID } from "node:crypto";
import { Hono } from "hono";
import type { WebSocket } from "ws";
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import type { Log } from "../../daemon/ops/log.ts";
import { Once, OnceMemory } from "../../daemon/ops/once.ts";
import { Metrics } from "../../daemon/ops/metrics.ts";
import { type AgentStreams, loadStreams } from "../agents/agentStream.ts";
import { agentEnvironment } from "../../daemon/ops/environment.ts";
import { collectWaits, type WaitCounts } from "../operations/waitFamilies.ts";
import { SessionBook } from "./sessions/sessionBook.ts";
import { Feeds } from "../../daemon/panes/feeds.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import { CLOSE_CODES, FRESHELL_MAX_MESSAGE_BYTES } from "../../protocol/api/freshell/freshellWire.ts";
import { AppError } from "../../protocol/errors.ts";
import { createGuard, type GuardEnv, type RouteHandler } from "../kit/guard/requestGuard.ts";
import { serveRoutes } from "../kit/guard/routes.ts";
import { createWebSocketServer, upgradeSocket, type WebSocketRoutes } from "../kit/streams/websocket.ts";
import type { FreshellConfig } from "./freshellConfig.ts";
import type { FreshellContext } from "./freshellContext.ts";
import { CREATES_KEPT_MS, MAX_CREATES_KEPT } from "./freshellLimits.ts";
import { faultHandler, forbidden } from "./freshellRequests.ts";
import { freshellRoutes } from "./freshellRoutes.ts";
import { newId } from "./newId.ts";
import { LayoutPlane } from "./relay/layoutPlane.ts";
import { FreshellSocket } from "./socket/freshellSocket.ts";
import { FrameShare } from "./socket/outputFrames.ts";
import { TerminalBook } from "./terminals/terminalBook.ts";
import { agentPath, directoryOf, type ProgramInputs } from "./terminals/terminalPrograms.ts";
import { terminalServer } from "./terminals/terminalServer.ts";
import { Credentials, type SessionStore, tokenOf } from "./tokens/credentials.ts";

export interface FreshellAppOptions {
  readonly server: TmuxServer;
  readonly waits: WaitManager;
  readonly config: Omit<FreshellConfig, "token"> & { readonly token: string };
  readonly programs: ProgramInputs;
  readonly homeDir: string;
  /** Where the built page is. */
  readonly pageDirectory: string;
  readonly version: string;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
  /** Device sessions of an earlier start. */
  readonly sessions: SessionStore;
  /** Its host names, and its pages' origins: known once there is a port. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** How programs in terminals reach it. */
  readonly url: () => string;
}

export interface FreshellApp {
  readonly app: Hono<GuardEnv>;
  /** For `ListenOptions.websocket`. */
  readonly websocket: WebSocketRoutes;
  readonly book: TerminalBook;
  /** Disconnects every client; call it before the listener's `close`. Safe to call twice. */
  readonly end: () => void;
  /** Writes what is kept on disk and releases the terminals; call it after the listener's `close`. */
  readonly close: () => Promise<void>;
}

/** @throws AppError CONNECTION_LOST */
export async function createFreshellApp(options: FreshellAppOptions): Promise<FreshellApp> {
  const { config, clock, log } = options;
  const context = contextOf(options, await loadStreams(options.programs.agents));
  await context.book.restore();
  const sockets = new Set<FreshellSocket>();
  const metrics = new Metrics();
  collectFreshell(metrics, context, options.waits, () => sockets.size);
  const socket = socketRoute(context, sockets);
  const { homeDir, pageDirectory } = options;
  const routes = freshellRoutes(context, { renderMetrics: () => metrics.render(), socket, homeDir, pageDirectory });
  const app = new Hono<GuardEnv>();
  app.onError(faultHandler(log, app));
  const guard = createGuard({
    peers: config.allowLan ? "any" : "loopback",
    hosts: options.hosts,
    origins: options.origins,
    missingOrigin: "allow",
    token: undefined,
    proves: (request) => context.credentials.principalOf(tokenOf(request)) !== undefined,
    onForbidden: forbidden,
    corsMethods: "GET,POST,DELETE,OPTIONS",
    clock,
  });
  serveRoutes(app, guard, routes);
  return {
    app,
    websocket: createWebSocketServer({
      paths: ["/ws"],
      protocol: undefined,
      maxMessageBytes: FRESHELL_MAX_MESSAGE_BYTES,
      clock: context.clock,
    }),
    book: context.book,
    end: () => {
      for (const each of sockets) each.close(CLOSE_CODES.SERVER_SHUTDOWN, "Server shutting down");
    },
    close: async () => {
      context.sessions.close();
      await context.layout.close();
      await context.book.close();
    },
  };
}

function contextOf(options: FreshellAppOptions, streams: AgentStreams): FreshellContext {
  const { server, config, clock, nowUnixMs, log, version, programs, homeDir, url } = options;
  const { token, maxTerminals, deviceTokenTtlSec } = config;
  const book = new TerminalBook({ server, clock, nowUnixMs, log, programs, homeDir, maxTerminals, url });
  const onError = (error: unknown): void => log.error("freshell.subscriber.failed", { error });
  const waits = options.waits.share(config.waits, config.disableRegex);
  const marks = programs.agents.flatMap((agent) => agent.marks);
  const sessions = new SessionBook({
    clock,
    nowUnixMs,
    newId,
    epoch: randomUUID(),
    log,
    streams,
    findProgram: (name) => agentPath(name, programs),
    findDirectory: (cwd) => directoryOf(cwd, homeDir),
    environment: () => ({
      ...agentEnvironment({ ...programs.env, ...programs.daemonEnv }, marks),
      FRESHELL_URL: url(),
    }),
  });
  const layout = new LayoutPlane({ config, book, server, sessions, waits, clock, nowUnixMs, log });
  const creates = <Made>(): Once<Made> =>
    new Once({
      store: new OnceMemory({ maxEntries: MAX_CREATES_KEPT, keptMs: CREATES_KEPT_MS, nowMs: () => clock.nowMs() }),
    });
  const asPanes = terminalServer(server, (key) => book.findByKey(key));
  return {
    server,
    book,
    feeds: new Feeds({ server: asPanes, clock, onError }),
    frames: new FrameShare(server.status().tmuxVersion),
    waits,
    sessions,
    sessionCreates: creates(),
    layout,
    credentials: new Credentials({
      token,
      ttlSec: deviceTokenTtlSec,
      nowUnixMs,
      clock,
      store: options.sessions,
      remoteTargets: (deviceId) => layout.remoteTargets(deviceId),
    }),
    creates: creates(),
    settings: config,
    version,
    instanceId: randomUUID(),
    clock,
    nowUnixMs,
    log,
  };
}

function socketRoute(context: FreshellContext, sockets: Set<FreshellSocket>): RouteHandler {
  const onError = (error: unknown): void => context.log.error("freshell.socket.failed", { error });
  const open = (socket: WebSocket) => {
    const isFull = sockets.size >= context.settings.maxConnections;
    const connection = new FreshellSocket({ context, isFull }, socket);
    sockets.add(connection);
    socket.once("close", () => sockets.delete(connection));
    return connection;
  };
  const upgrade = upgradeSocket(open, onError);
  const refuse = (): never => {
    throw new AppError("INVALID_ARGUMENT", "this route is a WebSocket: send an upgrade request");
  };
  return async (c) => (await upgrade(c)) ?? refuse();
}

/**
 * What `/api/metrics` shows: the waits under the names of seed 002 §16.17, terminals, clients, tmux, processes started.
 * @param sockets number of WebSockets
 */
function collectFreshell(metrics: Metrics, context: FreshellContext, waits: WaitCounts, sockets: () => number): void {
  const { book, feeds, server, layout, sessions } = context;
  collectWaits(metrics, waits);
  const single = (name: string, help: string, read: () => number): void =>
    metrics.collect(name, name.endsWith("_total") ? "counter" : "gauge", help, () => [{ value: read() }]);
  const byStatus = (name: string, help: string, read: () => readonly [total: number, running: number]): void =>
    metrics.collect(name, "gauge", help, () => {
      const [total, running] = read();
      return [
        { labels: { status: "running" }, value: running },
        { labels: { status: "exited" }, value: total - running },
      ];
    });
  byStatus("freshell_terminals", "Terminals by whether their program runs.", () => {
    const terminals = book.list();
    return [terminals.length, terminals.filter(({ isRunning }) => isRunning).length];
  });
  byStatus("freshell_sessions", "Sessions of agents by whether their program runs.", () => [
    sessions.list().length,
    sessions.runningCount(),
  ]);
  single("freshell_connections", "WebSockets open.", sockets);
  single(
    "freshell_attachments",
    "Terminals that a client is attached to, once for each client.",
    () => feeds.subscriberCount,
  );
  single("freshell_devices_online", "Devices whose owner is online.", () => layout.presence.onlineCount());
  metrics.collect("freshell_rpc_total", "counter", "Requests to owners by what came of them.", () => {
    const counts = layout.relay.counts();
    return (["ok", "error", "late"] as const).map((result) => ({ labels: { result }, value: counts[result] }));
  });
  single(
    "freshell_rpc_ignored_total",
    "Acks and results that nobody had asked for.",
    () => layout.relay.counts().ignored,
  );
  single("tmuxwire_output_bytes_total", "Pane output received from tmux.", () => server.counters().outputBytes);
  single("tmuxwire_pauses_total", "Times tmux paused a pane and dropped output.", () => server.counters().pauses);
  single("tmuxwire_spawns_total", "Processes that this one has started.", spawnsTotal);
}
