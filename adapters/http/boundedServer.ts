/**
 * An HTTP(S) server with every bound set: connections, header size, time to send a request, time to close. Its owner
 * chooses the address.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { Server as SecureServer } from "node:https";
import { createServer as createSecureServer } from "node:https";
import type { ListenOptions, Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { HttpBindings, WebSocketServerLike } from "@hono/node-server";
import type { Log } from "../../daemon/ops/log.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { connectionLimit } from "./connectionLimit.ts";
import { Connections } from "./connections.ts";
import * as limits from "./httpLimits.ts";

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
  readonly websocket?: WebSocketServerLike | undefined;
  readonly clock: Clock;
  /** Logs connections that could not be accepted, for instance for want of file descriptors. */
  readonly log?: Log | undefined;
}

export type AnyServer = Server | SecureServer;

/** @throws AppError CONFIGURATION_INVALID when the key does not match the certificate. */
function boundedServer(options: BoundedServerOptions): AnyServer {
  const base = {
    fetch: options.fetch as (request: Request) => Response | Promise<Response>,
    ...(options.websocket === undefined ? {} : { websocket: { server: options.websocket } }),
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
        `the key and certificate cannot be used together (${messageOf(error)}): give a PEM key and the certificate made for it`,
        { cause: error },
      );
    }
  }
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

/** TLS 1.2 stays enabled: some Office web views have nothing newer. */
export const secureOptions = (tls: KeyPair) => ({ key: tls.key, cert: tls.cert, minVersion: "TLSv1.2" as const });

/** One that listens there. @throws the system's error; AppError CONFIGURATION_INVALID */
export async function listeningServer(options: BoundedServerOptions, address: ListenOptions): Promise<AnyServer> {
  const server = boundedServer(options);
  server.listen(address);
  await once(server, "listening");
  // Without an error listener one failed accept would end the process.
  server.on("error", (error) => options.log?.warn("http.accept.failed", { error }));
  return server;
}

/**
 * Stops accepting, lets requests under way finish for `CLOSE_GRACE_MS`, then ends them. Node closes only connections that
 * are idle at the call; the sweep closes those that become idle later.
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

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
