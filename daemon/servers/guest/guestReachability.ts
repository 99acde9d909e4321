/**
 * Whether there is a server of the user's to connect to, why not, and when there may be one again. To find out, nothing is
 * started but one client that probes the server (`guestProbe.ts`), and only once something listens on the socket.
 */
import { AppError } from "../../../protocol/errors.ts";
import { ServerProgram } from "../../connection/serverProgram.ts";
import type { Clock } from "../../time/clock.ts";
import { findTmux, type GuestSpawn, probeServer } from "./guestProbe.ts";
import type { Presence } from "./guestPresence.ts";
import { notRunning, meansGone, SocketWatch, trySocket } from "./guestSocket.ts";
import { probeForEnd } from "../serverEnd.ts";

interface GuestReachabilityOptions {
  readonly spawn: GuestSpawn;
  readonly clock: Clock;
  /** There is no server, or no session in it. */
  readonly onGone: () => void;
  /** The socket may be there now. */
  readonly onAppeared: () => void;
}

export class GuestReachability {
  readonly #options: GuestReachabilityOptions;
  readonly #server: ServerProgram;
  #watch: SocketWatch | undefined;
  #absence: AppError | undefined;

  constructor(options: GuestReachabilityOptions) {
    this.#options = options;
    this.#server = new ServerProgram(options.spawn.host);
  }

  /** Why there is nothing to connect to, as far as is known. */
  get absence(): AppError | undefined {
    return this.#absence;
  }

  /** Which tmux it is, and who is attached where; empty when it does not respond. @throws AppError when there is no server */
  async probe(): Promise<{ readonly version: string; readonly presence: Presence }> {
    const { spawn, onGone, onAppeared } = this.#options;
    const { program, socketPath } = spawn;
    // Before the try, so that what appears after it is an event.
    this.#watch ??= new SocketWatch(spawn.host.sockets, socketPath, onAppeared);
    await this.#requireListener();
    await findTmux(spawn);
    if (program.missing !== undefined) throw this.refuse(program.missing);
    const { version: ours = "" } = program;
    const clash = await this.#server.clash({ socketPath, ours, env: spawn.env });
    if (clash !== undefined)
      throw this.refuse(new AppError("CONNECTION_LOST", clash.message, { details: clash.details }));
    const found = await probeServer(spawn);
    if (found === "none") {
      onGone();
      throw this.refuse(notRunning(socketPath));
    }
    if (found?.presence.length === 0) onGone();
    // A server that is about to end still accepts, but no longer replies.
    if (found === undefined) await this.#requireListener();
    return found ?? { version: "", presence: [] };
  }

  /** Remembers why, and returns it. */
  refuse(error: AppError): AppError {
    this.#absence = error;
    return error;
  }

  /** A connection was lost, maybe with the server. */
  lost(error: AppError, isStillLost: () => boolean): void {
    const { spawn, clock, onGone } = this.#options;
    const { socketPath } = spawn;
    const onEnded = (): void => {
      if (!isStillLost()) return;
      this.refuse(notRunning(socketPath));
      onGone();
    };
    probeForEnd({ host: spawn.host, clock, lost: error, socketPath, onEnded });
  }

  /** There is a connection. */
  attached(): void {
    this.#absence = undefined;
    this.#watch?.close();
    this.#watch = undefined;
  }

  /** Safe to call twice. */
  close(): void {
    this.#watch?.close();
  }

  async #requireListener(): Promise<void> {
    const { spawn, onGone } = this.#options;
    const refusal = await trySocket(spawn.host.sockets, spawn.socketPath);
    if (refusal === undefined) return;
    if (meansGone(refusal)) onGone();
    throw this.refuse(spawn.program.missing ?? refusal);
  }
}
