/**
 * An HTTP(S) server with every bound set: connections, header size, time to send a request, time to close. The caller
 * chooses the address.
 */
import { once } from "node:events";
import { type Server, createServer, type IncomingMessage } from "node:http";
import { type Server as SecureServer, createServer as createSecureServer } from "node:https";
import type { ListenOptions, Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { HttpBindings } from "@hono/node-server";
import { descriptorLimit } from "../../../daemon/host/descriptorLimit.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { AppError, messageOf } from "../../../protocol/errors.ts";
import { Connections } from "../peers/connections.ts";
import * as limits from "../peers/httpLimits.ts";
import type { WebSocketRoutes } from "../streams/websocket.ts";

/** A private key and its certificate chain, both PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

export interface BoundedServerOptions {
  /** `app.fetch` of the listener's application. */
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  /** Serves HTTPS with this pair. */
  readonly tls?: KeyPair | undefined;
  /** For listeners with WebSocket routes. */
  readonly websocket?: WebSocketRoutes | undefined;
  readonly clock: Clock;
  /** Logs connections that could not be accepted, for instance because file descriptors ran out. */
  readonly log?: Log | undefined;
}

export type AnyServer = Server | SecureServer;

/** @throws AppError CONFIGURATION_INVALID when the key does not match the certificate. */
function boundedServer(options: BoundedServerOptions): AnyServer {
  const base = {
    fetch: options.fetch as (request: Request) => Response | Promise<Response>,
    ...(options.websocket === undefined ? {} : { websocket: { server: options.websocket.server } }),
  };
  const bounds = {
    maxHeaderSize: limits.MAX_HEADER_BYTES,
    headersTimeout: limits.HEADERS_TIMEOUT_MS,
    requestTimeout: limits.REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: limits.CONNECTIONS_CHECK_MS,
    keepAliveTimeout: limits.KEEP_ALIVE_MS,
  };
  let server: AnyServer;
  if (options.tls === undefined) {
    server = createAdaptorServer({ ...base, createServer, serverOptions: bounds }) as Server;
  } else {
    const serverOptions = { ...bounds, ...secureOptions(options.tls), handshakeTimeout: limits.HANDSHAKE_TIMEOUT_MS };
    try {
      server = createAdaptorServer({ ...base, createServer: createSecureServer, serverOptions }) as SecureServer;
    } catch (error) {
      throw new AppError(
        "CONFIGURATION_INVALID",
        `the key and certificate do not match (${messageOf(error)}): give a PEM key and the certificate made for it`,
        { cause: error },
      );
    }
  }
  if (options.websocket !== undefined) ignoreOtherUpgrades(server, options.websocket.paths);
  const limit = connectionLimit();
  server.maxConnections = limit;
  const connections = new Connections({
    clock: options.clock,
    crowded: Math.min(limits.CROWDED_CONNECTIONS, limit / 2),
  });
  server.on("connection", (socket: Socket) => connections.add(socket));
  server.on("secureConnection", (socket: Socket) => connections.secured(socket));
  connectionsOf.set(server, connections);
  return server;
}

const connectionsOf = new WeakMap<AnyServer, Connections>();

/** TLS 1.2 stays enabled: some Office web views support nothing newer. */
export const secureOptions = (tls: KeyPair) => ({ key: tls.key, cert: tls.cert, minVersion: "TLSv1.2" as const });

/** A server that listens at `address`. @throws the system's error; AppError CONFIGURATION_INVALID */
export async function listeningServer(options: BoundedServerOptions, address: ListenOptions): Promise<AnyServer> {
  const server = boundedServer(options);
  server.listen(address);
  await once(server, "listening");
  // Without an error listener, one failed accept would end the process.
  server.on("error", (error) => options.log?.warn("http.accept.failed", { error }));
  return server;
}

/**
 * Stops accepting, gives active requests `CLOSE_GRACE_MS` to finish, then ends them. Node closes only connections that are
 * idle at the call; the sweep closes those that become idle later.
 */
export async function closeServers(servers: readonly AnyServer[], clock: Clock): Promise<void> {
  const graceEndMs = clock.nowMs() + limits.CLOSE_GRACE_MS;
  let timer: Timer | undefined;
  const sweep = (): void => {
    const isOver = clock.nowMs() >= graceEndMs;
    for (const server of servers) {
      if (isOver) connectionsOf.get(server)?.destroyAll();
      else server.closeIdleConnections();
    }
    timer = clock.callAt(clock.nowMs() + limits.CLOSE_SWEEP_MS, sweep);
  };
  const closed = servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())));
  sweep();
  await Promise.all(closed);
  timer?.cancel();
}

/** One listener's share of the descriptors: two listeners take half, and everything else the other half. */
const SHARE = 1 / 4;

/**
 * How many connections a listener accepts: `MAX_CONNECTIONS`, or fewer if the process may open few descriptors, so that
 * idle clients cannot take those needed for tmux and files. `MAX_CONNECTIONS` if the system's limit is unknown.
 */
const connectionLimit = (): number =>
  Math.min(limits.MAX_CONNECTIONS, Math.floor((descriptorLimit() ?? Number.POSITIVE_INFINITY) * SHARE));

type UpgradeListener = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

/**
 * Ignores upgrade requests at other paths (RFC 9110 §7.8): the request is handled as if it had no upgrade headers. Once
 * there is an `upgrade` listener, Node passes it every upgrade request and stops reading the body; so the request, without
 * those headers, is put back in front of its connection and read again.
 * @param paths of the WebSocket routes
 */
function ignoreOtherUpgrades(server: Server | SecureServer, paths: ReadonlySet<string>): void {
  const listeners = server.listeners("upgrade") as UpgradeListener[];
  const connected = "setSecureContext" in server ? "secureConnection" : "connection";
  server.removeAllListeners("upgrade");
  server.on("upgrade", (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (isWebSocket(request, paths)) {
      for (const listener of listeners) listener.call(server, request, socket, head);
      return;
    }
    socket.unshift(Buffer.concat([Buffer.from(withoutUpgrade(request), "latin1"), head]));
    server.emit(connected, socket);
  });
}

const isWebSocket = ({ method, url, headers }: IncomingMessage, paths: ReadonlySet<string>): boolean =>
  method === "GET" &&
  headers.upgrade?.toLowerCase() === "websocket" &&
  paths.has((url ?? "").replace(/^https?:\/\/[^/]*/i, "").split("?", 1)[0] ?? "");

/** Headers that belong to the upgrade only: RFC 9110 §7.8, RFC 7540 §3.2.1. */
const OF_UPGRADE: ReadonlySet<string> = new Set(["upgrade", "http2-settings"]);

/** The request's head as received, without the upgrade headers, as Latin-1. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = "", value = ""] = rawHeaders.slice(at, at + 2);
    if (OF_UPGRADE.has(name.toLowerCase())) continue;
    const isConnection = name.toLowerCase() === "connection";
    const kept = isConnection ? withoutOptions(value) : value;
    if (!isConnection || kept !== "") lines.push(`${name}: ${kept}`);
  }
  return `${lines.join("\r\n")}\r\n\r\n`;
}

const withoutOptions = (connection: string): string =>
  connection
    .split(",")
    .map((option) => option.trim())
    .filter((option) => !OF_UPGRADE.has(option.toLowerCase()))
    .join(", ");
