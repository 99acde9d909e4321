/**
 * Keeps one control connection alive: heartbeat, states, reconnect with back-off (DESIGN §3). Nothing is ever sent
 * twice: a lost connection settles its callers, and the next one begins empty.
 *
 *   connecting → ready ⇄ degraded (tmux silent for 12 s, the connection kept) → connecting … → closed
 */
import { displayMessage } from "../../protocol/command/build.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import {
  HEARTBEAT_DEGRADED_MS,
  HEARTBEAT_INTERVAL_MS,
  HEARTBEAT_WARN_MS,
  RECONNECT_MAX_MS,
  RECONNECT_MIN_MS,
} from "../../protocol/limits.ts";
import type { ServerState } from "../server/tmuxServer.ts";
import type { Clock, Timer } from "../time/clock.ts";
import type { ControlConnection } from "./controlConnection.ts";

export interface SupervisorOptions {
  readonly clock: Clock;
  /** Opens a connection whose `onClosed` calls `lost` and whose `onChunkEnd` calls `heard`. */
  readonly open: () => ControlConnection;
  /** Makes a fresh connection usable. A failure closes it; the first one fails `start`, later ones are tried again. */
  readonly prepare: (connection: ControlConnection) => Promise<void>;
  readonly onState: (state: ServerState) => void;
  /** For the log: fixed names, no pane text. */
  readonly onEvent: (event: "connection.lost" | "connection.retry" | "heartbeat.late", details: object) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #connection: ControlConnection | undefined;
  #state: ServerState = "connecting";
  #heardMs = 0;
  #warned = false;
  #retryMs = RECONNECT_MIN_MS;
  #timer: Timer | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The first connection. @throws AppError what `open` or `prepare` failed with. */
  async start(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** The connection to send on. @throws AppError CONNECTION_LOST while there is none, or tmux does not answer. */
  connection(): ControlConnection {
    if (this.#connection !== undefined && this.#state === "ready") return this.#connection;
    throw this.#unavailable();
  }

  /** Something came from tmux. */
  heard(): void {
    this.#heardMs = this.#options.clock.nowMs();
    this.#warned = false;
    if (this.#state === "degraded") this.#setState("ready");
  }

  /** The connection has ended; its callers are settled. */
  lost(connection: ControlConnection, error: AppError): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#timer?.cancel();
    if (this.#state === "closed") return;
    this.#options.onEvent("connection.lost", { reason: error.details?.["reason"] ?? error.code });
    this.#setState("connecting");
    this.#retryAt(this.#options.clock.nowMs());
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    const connection = this.#connection;
    this.#connection = undefined;
    this.#setState("closed");
    connection?.close(this.#unavailable());
  }

  async #connect(): Promise<void> {
    const connection = this.#options.open();
    try {
      await this.#options.prepare(connection);
      if (this.#state === "closed") throw this.#unavailable();
      if (connection.closed) throw new AppError("CONNECTION_LOST", "the connection to tmux was lost while starting");
    } catch (error) {
      connection.close();
      throw error;
    }
    this.#connection = connection;
    this.#retryMs = RECONNECT_MIN_MS;
    this.heard();
    this.#setState("ready");
    this.#beatAt(this.#heardMs + HEARTBEAT_INTERVAL_MS);
  }

  #retryAt(deadlineMs: number): void {
    this.#timer = this.#options.clock.callAt(deadlineMs, () => {
      this.#connect().catch((error: unknown) => {
        if (this.#state === "closed") return;
        this.#options.onEvent("connection.retry", { code: toAppError(error).code, inMs: this.#retryMs });
        this.#retryAt(this.#options.clock.nowMs() + this.#retryMs);
        this.#retryMs = Math.min(RECONNECT_MAX_MS, this.#retryMs * 2);
      });
    });
  }

  #beatAt(deadlineMs: number): void {
    this.#timer = this.#options.clock.callAt(deadlineMs, () => this.#beat());
  }

  /** Sends a heartbeat while tmux answers; while it is silent, wakes at the next moment that means something. */
  #beat(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    const nowMs = this.#options.clock.nowMs();
    const silentMs = nowMs - this.#heardMs;
    if (silentMs >= HEARTBEAT_DEGRADED_MS) {
      if (this.#state === "ready") {
        this.#setState("degraded");
        connection.abandonPending(this.#unavailable());
      }
      this.#beatAt(nowMs + HEARTBEAT_INTERVAL_MS);
      return;
    }
    if (silentMs >= HEARTBEAT_WARN_MS && !this.#warned) {
      this.#warned = true;
      this.#options.onEvent("heartbeat.late", { silentMs: Math.round(silentMs) });
    }
    const isSilent = silentMs >= HEARTBEAT_INTERVAL_MS;
    if (isSilent && connection.pendingCommands === 0) connection.send(displayMessage("beat"), "ours", () => undefined);
    const deadlines = [HEARTBEAT_INTERVAL_MS, HEARTBEAT_WARN_MS, HEARTBEAT_DEGRADED_MS];
    const nextMs = deadlines.find((ms) => ms > silentMs) ?? HEARTBEAT_INTERVAL_MS;
    this.#beatAt(this.#heardMs + nextMs);
  }

  #setState(state: ServerState): void {
    if (this.#state === state || this.#state === "closed") return;
    this.#state = state;
    this.#options.onState(state);
  }

  #unavailable(): AppError {
    switch (this.#state) {
      case "closed":
        return new AppError("CONNECTION_LOST", "the daemon is stopping");
      case "degraded":
        return new AppError("CONNECTION_LOST", "tmux does not answer; is its process stopped? (pgrep tmux)");
      case "connecting":
      case "ready":
        return new AppError("CONNECTION_LOST", "there is no connection to tmux at the moment; try again shortly");
    }
  }
}
