/**
 * The socket of a guest's tmux: found, tried and awaited, never made. Nothing here starts a process: a try is one
 * `connect`, and a watch on its directory tells when the file appears.
 */
import { basename, dirname } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import type { Closable, HostSockets } from "../../host/host.ts";

/** Why nothing listens on the socket; undefined when something does, or the host cannot tell. */
export async function trySocket(sockets: HostSockets, socketPath: string): Promise<AppError | undefined> {
  const probe = await sockets.connect(socketPath);
  if (probe === undefined || probe.accepts) return undefined;
  const { errno, why } = probe;
  if (why !== undefined) return why;
  if (errno !== "EACCES" && errno !== "EPERM") return notRunning(socketPath, errno);
  return new AppError(
    "CONNECTION_LOST",
    `no permission to use the tmux socket ${socketPath}; check its owner and mode`,
    {
      details: { reason: "tmux_forbidden", errno },
    },
  );
}

export const notRunning = (socketPath: string, errno?: string): AppError =>
  new AppError(
    "CONNECTION_LOST",
    `no tmux server runs at ${socketPath}; start one there, and the daemon connects to it`,
    {
      details: { reason: "tmux_not_running", errno },
    },
  );

/** Whether nothing listens; anything else may be a busy server. */
export const meansGone = (refusal: AppError): boolean =>
  ["ENOENT", "ENOTDIR", "ECONNREFUSED", "ENOTSOCK"].includes(String(refusal.details?.["errno"]));

/** Tells when the socket's file may have appeared. For a missing directory the nearest existing one is watched. */
export class SocketWatch {
  readonly #sockets: HostSockets;
  readonly #socketPath: string;
  readonly #onAppeared: () => void;
  #watcher: Closable | undefined;
  #closed = false;

  constructor(sockets: HostSockets, socketPath: string, onAppeared: () => void) {
    this.#sockets = sockets;
    this.#socketPath = socketPath;
    this.#onAppeared = onAppeared;
    this.#arm();
  }

  /** Safe to call twice. */
  close(): void {
    this.#closed = true;
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #arm(): void {
    this.#watcher?.close();
    const awaited = this.#nearest();
    const directory = dirname(awaited);
    this.#watcher = this.#sockets.watch(directory, (name) => {
      if (name === null || name === basename(awaited)) this.#changed(awaited);
      else if (this.#sockets.exists(directory) === false) this.#arm();
    });
    // No watch is available, or the directory has just gone: the next timed try finds the socket.
    if (this.#watcher === undefined) return;
    // The watch does not report what appeared before it.
    if (this.#nearest() !== awaited) this.#arm();
  }

  /** The first part of the path that is not there, or the socket itself. */
  #nearest(): string {
    let awaited = this.#socketPath;
    while (this.#sockets.exists(dirname(awaited)) === false && dirname(awaited) !== awaited) awaited = dirname(awaited);
    return awaited;
  }

  #changed(awaited: string): void {
    if (this.#closed) return;
    if (awaited !== this.#socketPath) this.#arm();
    if (this.#sockets.exists(this.#socketPath) === true) this.#onAppeared();
  }
}
