/**
 * Freshell's application: the guard, the routes of its contract, its WebSocket, and the parts behind them. It has an
 * owned tmux server; terminals of an earlier start are restored before it listens.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { Hono } from "hono";
import type { WebSocket } from "ws";
import { spawnsTotal } from "../../daemon/host/spawnCount.ts";
import { agentEnvironment } from "../../daemon/ops/environment.ts";
import { Metrics } from "../../daemon/ops/metrics.ts";
import { Once } from "../../daemon/ops/once.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import { CLOSE_CODES, FRESHELL_MAX_MESSAGE_BYTES } from "../../protocol/api/freshell/freshellWire.ts";
import { invalidArgument } from "../../protocol/errors.ts";
import { loadStreams } from "../agents/agentStream.ts";
import { createGuard, type GuardEnv, type RouteHandler } from "../kit/guard/requestGuard.ts";
import { serveRoutes } from "../kit/guard/routes.ts";
import { createWebSocketServer, upgradeSocket, type WebSocketRoutes } from "../kit/streams/websocket.ts";
import { collectWaits } from "../operations/panes/waitFamilies.ts";
import type { FreshellConfig } from "./freshellConfig.ts";
import { faultHandler, forbidden } from "./freshellRequests.ts";
import { freshellRoutes } from "./freshellRoutes.ts";
import { newId } from "./newId.ts";
import { AuditLog } from "./relay/auditLog.ts";
import { DeviceFolder } from "./relay/deviceFolder.ts";
import { LayoutRelay } from "./relay/layoutRelay.ts";
import { Presence } from "./relay/presence.ts";
import { RemoteControl } from "./relay/remoteControl.ts";
import { ResultFile } from "./relay/resultFile.ts";
import { SessionRegistry } from "./sessions/sessionRegistry.ts";
import { FreshellSocket, repeatedCreates, type SocketParts } from "./socket/freshellSocket.ts";
import { FrameShare } from "./socket/outputFrames.ts";
import { agentPath, directoryOf, type ProgramInputs } from "./terminals/terminalPrograms.ts";
import { TerminalRegistry, type TerminalRegistryOptions } from "./terminals/terminalRegistry.ts";
import { Credentials, type SessionStore, tokenOf } from "./tokens/credentials.ts";

export interface FreshellAppOptions extends Omit<TerminalRegistryOptions, "maxTerminals"> {
  readonly waits: WaitManager;
  readonly config: Omit<FreshellConfig, "token"> & { readonly token: string };
  /** Where the built page is. */
  readonly pageDirectory: string;
  readonly version: string;
  /** Device sessions of an earlier start. */
  readonly sessions: SessionStore;
  /** Its host names, and its pages' origins: known once there is a port. */
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
}

export interface FreshellApp {
  readonly app: Hono<GuardEnv>;
  /** For `ListenOptions.websocket`. */
  readonly websocket: WebSocketRoutes;
  readonly terminals: TerminalRegistry;
  /** Disconnects every client; call it before the listener's `close`. Safe to call twice. */
  readonly end: () => void;
  /** Writes what is kept on disk and releases the terminals; call it after the listener's `close`. */
  readonly close: () => Promise<void>;
}

/** @throws AppError CONNECTION_LOST */
export async function createFreshellApp(options: FreshellAppOptions): Promise<FreshellApp> {
  const { server, config, clock, nowUnixMs, log, programs, homeDir, url } = options;
  const { homePath, maxTerminals } = config;
  const terminals = new TerminalRegistry({ server, clock, nowUnixMs, log, programs, homeDir, maxTerminals, url });
  const sessions = new SessionRegistry({
    clock,
    nowUnixMs,
    newId,
    epoch: randomUUID(),
    log,
    streams: await loadStreams(programs.agents),
    prepare: async (name, cwd) => ({
      file: await agentPath(name, programs),
      cwd: await directoryOf(cwd, homeDir),
      env: { ...environmentOf(programs), FRESHELL_URL: url() },
    }),
  });
  const waits = options.waits.share(config.waits, config.disableRegex);
  const folder = new DeviceFolder({ path: join(homePath, "devices"), clock, log });
  const presence = new Presence({ folder, nowUnixMs });
  const remoteControl = new RemoteControl(join(homePath, "remote-control.json"), log);
  const audit = new AuditLog({ folder: join(homePath, "audit"), nowUnixMs, clock, log });
  const results = new ResultFile({ path: config.resultsPath, nowUnixMs, clock, log });
  const parts: SocketParts = {
    terminals,
    sessions,
    waits,
    presence,
    relay: new LayoutRelay({
      presence,
      remoteControl,
      results: new Once({ store: results }),
      audit,
      parts: { terminals, sessions, waits },
    }),
    frames: new FrameShare(server.status().tmuxVersion),
    credentials: new Credentials({
      token: config.token,
      ttlSec: config.deviceTokenTtlSec,
      nowUnixMs,
      clock,
      store: options.sessions,
      remoteTargets: (deviceId) => remoteControl.targetsOf(deviceId, presence.all()),
    }),
    creates: repeatedCreates(clock),
    config,
    instanceId: randomUUID(),
    clock,
    nowUnixMs,
    log,
  };
  await terminals.restore();
  const sockets = new Set<FreshellSocket>();
  const metrics = metricsOf(options, parts, sockets);
  const routes = freshellRoutes(options, parts, socketRoute(parts, sockets), () => metrics.render());
  const app = new Hono<GuardEnv>();
  app.onError(faultHandler(log, app));
  const guard = createGuard({
    peers: config.allowLan ? "any" : "loopback",
    hosts: options.hosts,
    origins: options.origins,
    missingOrigin: "allow",
    token: undefined,
    proves: (request) => parts.credentials.principalOf(tokenOf(request)) !== undefined,
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
      clock,
    }),
    terminals,
    end: () => {
      for (const each of sockets) each.close(CLOSE_CODES.SERVER_SHUTDOWN, "Server shutting down");
    },
    close: async () => {
      sessions.close();
      await folder.settle();
      audit.close();
      results.close();
      await terminals.close();
    },
  };
}

/** Of agents' programs. */
const environmentOf = ({ env, daemonEnv, agents }: ProgramInputs): Record<string, string> =>
  agentEnvironment(
    { ...env, ...daemonEnv },
    agents.flatMap((agent) => agent.marks),
  );

function socketRoute(parts: SocketParts, sockets: Set<FreshellSocket>): RouteHandler {
  const onError = (error: unknown): void => parts.log.error("freshell.socket.failed", { error });
  const open = (socket: WebSocket) => {
    const connection = new FreshellSocket(parts, socket, sockets.size >= parts.config.maxConnections);
    sockets.add(connection);
    socket.once("close", () => sockets.delete(connection));
    return connection;
  };
  const upgrade = upgradeSocket(open, onError);
  const refuse = (): never => {
    throw invalidArgument("this route is a WebSocket: send an upgrade request");
  };
  return async (c) => (await upgrade(c)) ?? refuse();
}

/** What `/api/metrics` shows: the waits under the names of seed 002 §16.17, terminals, clients, tmux, processes started. */
function metricsOf(
  { server, waits }: FreshellAppOptions,
  { terminals, presence, relay, sessions }: SocketParts,
  sockets: ReadonlySet<FreshellSocket>,
): Metrics {
  const metrics = new Metrics();
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
    const all = terminals.list();
    return [all.length, all.filter(({ isRunning }) => isRunning).length];
  });
  byStatus("freshell_sessions", "Sessions of agents by whether their program runs.", () => [
    sessions.list().length,
    sessions.runningCount(),
  ]);
  single("freshell_connections", "WebSockets open.", () => sockets.size);
  single(
    "freshell_attachments",
    "Terminals that a client is attached to, once for each client.",
    () => terminals.feeds.subscriberCount,
  );
  single("freshell_devices_online", "Devices whose owner is online.", () => presence.onlineCount());
  metrics.collect("freshell_rpc_total", "counter", "Requests to owners by what came of them.", () => {
    const counts = relay.counts();
    return (["ok", "error", "late"] as const).map((result) => ({ labels: { result }, value: counts[result] }));
  });
  single("freshell_rpc_ignored_total", "Acks and results that nobody had asked for.", () => relay.counts().ignored);
  single("tmuxwire_output_bytes_total", "Pane output received from tmux.", () => server.counters().outputBytes);
  single("tmuxwire_pauses_total", "Times tmux paused a pane and dropped output.", () => server.counters().pauses);
  single("tmuxwire_spawns_total", "Processes that this one has started.", spawnsTotal);
  return metrics;
}
