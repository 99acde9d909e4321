/**
 * A listening HTTP(S) server with every bound set: connections, header size, time to send a request, time to close. What
 * stops it from listening (port, host, certificate) is one line that says what to do, because it is read at start-up.
 */
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { Server as SecureServer } from "node:https";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { HttpBindings, WebSocketServerLike } from "@hono/node-server";
import type { Log } from "../../daemon/ops/log.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { urlHost } from "./addresses.ts";
import * as limits from "./limits.ts";

/** A private key and its certificate chain, both PEM. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

export interface ListenOptions {
  /** `app.fetch` of the listener's application. */
  readonly fetch: (request: Request, env: HttpBindings) => Response | Promise<Response>;
  /** `localhost` stands for both loopback addresses, whichever of the two a client tries. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Serves https with this. */
  readonly tls?: KeyPair | undefined;
  /** For listeners with WebSocket routes. */
  readonly websocket?: WebSocketServerLike | undefined;
  readonly clock: Clock;
  /** What the port and host settings are called where the user sets them, for error messages. */
  readonly settings?: { readonly host: string; readonly port: string } | undefined;
  /** Hears of connections that could not be accepted, for instance for want of file descriptors. */
  readonly log?: Log | undefined;
}

export interface Listener {
  /** With the host as configured and the port as it is. */
  readonly url: string;
  readonly port: number;
  /** New connections get this certificate; existing ones keep theirs. */
  replaceCertificate(tls: KeyPair): void;
  /** Stops accepting, lets requests under way finish for `CLOSE_GRACE_MS`, then ends them. Safe to call twice. */
  close(): Promise<void>;
}

/** @throws AppError CONFIGURATION_INVALID */
export async function listen(options: ListenOptions): Promise<Listener> {
  const servers = await openServers(options);
  const { port } = servers[0].address() as AddressInfo;
  let closing: Promise<void> | undefined;
  return {
    port,
    url: `${options.tls === undefined ? "http" : "https"}://${urlHost(options.host)}:${port}`,
    replaceCertificate: (tls) => {
      for (const server of servers) if ("setSecureContext" in server) server.setSecureContext(secureOptions(tls));
    },
    close: () => (closing ??= closeAll(servers, options.clock)),
  };
}

type AnyServer = Server | SecureServer;
type Servers = [AnyServer, ...AnyServer[]];

/** A chosen port that is taken on the other loopback address is chosen anew this often. */
const EPHEMERAL_PORT_TRIES = 8;

async function openServers(options: ListenOptions): Promise<Servers> {
  if (options.host !== "localhost") return [await openServer(options, options.host, options.port)];
  for (let tries = 1; ; tries++) {
    const first = await openServer(options, "127.0.0.1", options.port);
    try {
      const { port } = first.address() as AddressInfo;
      return [first, await openServer(options, "::1", port)];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const reason = error.details?.["reason"];
      // Without IPv6 there is no second address to listen on.
      if (reason === "EADDRNOTAVAIL" || reason === "EAFNOSUPPORT") return [first];
      await closeAll([first], options.clock);
      if (reason !== "EADDRINUSE" || options.port !== 0 || tries === EPHEMERAL_PORT_TRIES) throw error;
    }
  }
}

function openServer(options: ListenOptions, host: string, port: number): Promise<AnyServer> {
  return new Promise((resolve, reject) => {
    const server = makeServer(options);
    const onError = (error: NodeJS.ErrnoException): void => reject(listenError(options, error));
    server.once("error", onError);
    server.listen(port, host, () => {
      server.off("error", onError);
      // Without a listener one failed accept would end the process.
      server.on("error", (error) => options.log?.warn("http.accept.failed", { error }));
      resolve(server);
    });
  });
}

function makeServer(options: ListenOptions): AnyServer {
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
  server.maxConnections = limits.MAX_CONNECTIONS;
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  openSockets.set(server, sockets);
  return server;
}

/** Every connection, those included that Node does not count: before their TLS handshake, or upgraded. */
const openSockets = new WeakMap<AnyServer, Set<Socket>>();

function destroyAll(server: AnyServer): void {
  for (const socket of openSockets.get(server) ?? []) socket.destroy();
}

/** TLS 1.2 stays enabled: some Office web views have nothing newer. */
const secureOptions = (tls: KeyPair) => ({ key: tls.key, cert: tls.cert, minVersion: "TLSv1.2" as const });

/**
 * Node closes the connections that are idle now, and leaves one whose request ends later to its keep-alive: hence the
 * sweep, for the short time that closing may take.
 */
async function closeAll(servers: readonly AnyServer[], clock: Clock): Promise<void> {
  const graceEndMs = clock.nowMs() + limits.CLOSE_GRACE_MS;
  let timer: Timer | undefined;
  const sweep = (): void => {
    const isOver = clock.nowMs() >= graceEndMs;
    for (const server of servers) {
      if (isOver) destroyAll(server);
      else server.closeIdleConnections();
    }
    timer = clock.callAt(clock.nowMs() + limits.CLOSE_SWEEP_MS, sweep);
  };
  const closed = servers.map((server) => new Promise<void>((resolve) => void server.close(() => resolve())));
  sweep();
  await Promise.all(closed);
  timer?.cancel();
}

function listenError(options: ListenOptions, error: NodeJS.ErrnoException): AppError {
  const hostSetting = options.settings?.host ?? "the host setting";
  const portSetting = options.settings?.port ?? "the port setting";
  const details = { reason: error.code ?? "unknown" };
  const at = `port ${options.port} on ${options.host}`;
  const invalid = (message: string): AppError =>
    new AppError("CONFIGURATION_INVALID", message, { details, cause: error });
  switch (details.reason) {
    case "EADDRINUSE":
      return invalid(`${at} is in use: stop what listens there, or choose another port with ${portSetting}`);
    case "EACCES":
      return invalid(`${at} is reserved for the administrator: choose a port above 1023 with ${portSetting}`);
    case "EADDRNOTAVAIL":
    case "EAFNOSUPPORT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return invalid(`${options.host} is no address of this machine: set ${hostSetting} to localhost or 127.0.0.1`);
    default:
      return invalid(`cannot listen on ${at} (${messageOf(error)}): check ${hostSetting} and ${portSetting}`);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
