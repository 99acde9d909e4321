/**
 * Listeners other than our TCP port: a unix socket in a private directory, and sockets that systemd has opened for us
 * (sd_listen_fds(3)). The socket of a dead daemon is replaced; one with a listener is left alone.
 */
import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import type { ListenOptions as Address } from "node:net";
import type { HttpBindings } from "@hono/node-server";
import type { Log } from "../../daemon/ops/log.ts";
import { localHost } from "../../daemon/host/localHost.ts";
import { prepareSocketPath } from "../../daemon/host/socketPath.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { urlHost } from "../kit/peers/addresses.ts";
import { type AnyServer, closeServers, listeningServer } from "../kit/listeners/boundedServer.ts";
import type { WebSocketRoutes } from "../kit/streams/websocket.ts";
import { isListening } from "../serving/socketProbe.ts";

/** The permissions of its directory guard a unix socket; the peers of a port must be checked. */
type ListenerKind = "unix" | "tcp";

export interface LocalListenOptions {
  /** `app.fetch` of the application for this kind of listener. */
  readonly fetch: (kind: ListenerKind) => (request: Request, env: HttpBindings) => Response | Promise<Response>;
  readonly websocket?: WebSocketRoutes | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export interface LocalListener {
  readonly kind: ListenerKind;
  /** `unix:/path`, `unix:(passed)`, or `http://host:port`. */
  readonly url: string;
  /** Safe to call twice. */
  close(): Promise<void>;
}

/** @throws AppError CONFIGURATION_INVALID if its directory is not ours, or another process listens there. */
export async function requireFreeSocket(socketPath: string): Promise<void> {
  prepareSocketPath(socketPath, { setting: "--socket or TMUXWIRE_SOCKET" });
  if (!isThere(socketPath) || !(await isListening(socketPath))) return;
  const pid = localHost().sockets.listenerOf(socketPath);
  const who = pid === undefined ? "" : ` (pid ${pid})`;
  throw new AppError(
    "CONFIGURATION_INVALID",
    `another daemon${who} listens on ${socketPath}: stop it, or choose another socket with --socket or TMUXWIRE_SOCKET`,
  );
}

/** @throws AppError CONFIGURATION_INVALID, one line that says what to do. */
export async function listenOnSocket(socketPath: string, options: LocalListenOptions): Promise<LocalListener> {
  await requireFreeSocket(socketPath);
  if (isThere(socketPath)) unlinkSync(socketPath);
  // Until the chmod, only the directory protects the socket; that is enough, because it admits no other user.
  const listener = await open({ path: socketPath }, options);
  chmodSync(socketPath, 0o600);
  return listener;
}

/** @throws AppError CONFIGURATION_INVALID */
export function listenOnDescriptor(fd: number, options: LocalListenOptions): Promise<LocalListener> {
  return open({ fd } as Address, options);
}

const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

async function open(address: Address, { fetch, ...options }: LocalListenOptions): Promise<LocalListener> {
  let handle: ReturnType<LocalListenOptions["fetch"]>;
  const request: typeof handle = (...received) => handle(...received);
  const server = await listeningServer({ ...options, fetch: request }, address).catch((error: unknown) => {
    throw listenError(address, error as NodeJS.ErrnoException);
  });
  const { kind, url } = whereOf(server);
  handle = fetch(kind);
  let closing: Promise<void> | undefined;
  return { kind, url, close: () => (closing ??= closeServers([server], options.clock)) };
}

/** Tells the kind of a passed descriptor from the server's address. */
function whereOf(server: AnyServer): { kind: ListenerKind; url: string } {
  const at = server.address();
  // Node does not know the path of a passed unix socket.
  if (at === null || typeof at === "string")
    return { kind: "unix", url: `unix:${at === null || at === "" ? "(passed)" : at}` };
  return { kind: "tcp", url: `http://${urlHost(at.address)}:${at.port}` };
}

function listenError(address: Address, error: NodeJS.ErrnoException): AppError {
  const at = address.path ?? "a socket passed by the service manager";
  return new AppError(
    "CONFIGURATION_INVALID",
    `cannot listen on ${at} (${error.code ?? error.message}); check --socket`,
    {
      cause: error,
    },
  );
}
