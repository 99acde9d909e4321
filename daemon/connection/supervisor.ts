/**
 * Keeps one control connection alive and healthy: heartbeat, states, reconnecting with back-off. Nothing is ever sent twice:
 * a lost connection settles its callers, and the next one begins empty. If a heartbeat finds our client faulty, the
 * connection is closed as well (`checkup.ts`).
 *
 *   connecting → ready ⇄ degraded (tmux silent for 12 s, the connection kept) → connecting … → closed
 */
import { AppError, shuttingDown, toAppError } from "../../protocol/errors.ts";
import {
  HEARTBEAT_DEGRADED_MS,
  HEARTBEAT_INTERVAL_MS,
  HEARTBEAT_WARN_MS,
  RECONNECT_MAX_MS,
  RECONNECT_MIN_MS,
} from "../../protocol/limits.ts";
import type { ServerState } from "../tmux/inventory.ts";
import { backOffMs } from "../time/backOff.ts";
import type { Clock, Timer } from "../time/clock.ts";
import { SingleFlight } from "../time/singleFlight.ts";
import { type Checkup, ConnectionChecker } from "./checkup.ts";
import { noConnection, notResponding } from "./connectionErrors.ts";
import type { ControlConnection } from "./controlConnection.ts";

/** Interval of probes while tmux is silent. */
const PROBE_AGAIN_MS = 250;
/** Quick losses in a row after which reconnecting backs off, because somebody may keep detaching us. */
const MAX_QUICK_LOSSES = 5;

interface SupervisorOptions {
  readonly clock: Clock;
  /** Interval of heartbeats; tests use less. */
  readonly heartbeatMs?: number | undefined;
  /**
   * Opens a connection whose `onClosed` calls `lost` and whose `onChunkEnd` calls `received`; returns a promise if something
   * must be probed first. A failure is treated like one of `prepare`.
   */
  readonly open: () => ControlConnection | Promise<ControlConnection>;
  /** Makes a new connection usable. A failure closes it; the first failure fails `start`, later ones are retried. */
  readonly prepare: (connection: ControlConnection) => Promise<void>;
  readonly onState: (state: ServerState) => void;
  /** The query of the next heartbeat. */
  readonly checkup: () => Checkup;
  /** Called every few seconds while tmux responds. */
  readonly onBeat?: (() => void) | undefined;
  /** Whether tmux is idle; absent if that cannot be known. */
  readonly isServerIdle?: (() => boolean) | undefined;
  /** For the log: fixed event names, no pane text. */
  readonly onEvent: (event: "connection.lost" | "connection.retry" | "heartbeat.late", details: object) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  #connection: ControlConnection | undefined;
  /** Open but not usable yet. */
  #preparing: ControlConnection | undefined;
  #state: ServerState = "connecting";
  #receivedMs = 0;
  #warned = false;
  #checker: ConnectionChecker | undefined;
  #heartbeatDueMs = 0;
  #readyMs = 0;
  #quickLosses = 0;
  #retryMs = RECONNECT_MIN_MS;
  /** Queues one more check, because the reply to a pending one may be older than the caller's event. */
  readonly #checking = new SingleFlight(() => this.#checkNow());
  #timer: Timer | undefined;
  /** The timer is for the next attempt. */
  #isWaiting = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Makes the first connection. @throws AppError the error of `open` or `prepare`; TMUX_UNAVAILABLE if tmux is silent. */
  async start(): Promise<void> {
    try {
      const connected = this.#connect();
      this.#receivedMs = this.#options.clock.nowMs();
      this.#expectStartBy(this.#receivedMs + HEARTBEAT_DEGRADED_MS);
      await connected;
    } catch (error) {
      this.close();
      throw startError(error);
    }
  }

  /** Like `start`, for a server that may not exist: resolves after the first attempt, whatever its outcome; more follow. */
  async startOrWait(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      this.#retryAfter(error);
    }
  }

  /** Call when an attempt is likely to succeed: a scheduled one is made at once, a running one is repeated soon if it fails. */
  retryNow(): void {
    this.#retryMs = RECONNECT_MIN_MS;
    if (!this.#isWaiting) return;
    this.#timer?.cancel();
    this.#retryAt(this.#options.clock.nowMs());
  }

  /** The connection to send on. @throws AppError CONNECTION_LOST while there is none or tmux does not respond. */
  connection(): ControlConnection {
    if (this.#connection !== undefined && this.#state === "ready") return this.#connection;
    throw this.#unavailable();
  }

  /**
   * Sends the query of the next heartbeat now, so that `state` is current. Resolves when tmux has replied, or after a second.
   * At most one check is pending and one more queued.
   */
  check(): Promise<void> {
    return this.#checking.now();
  }

  /** Call when tmux is silent although it should have said something. */
  doubt(): void {
    const { clock, checkup, isServerIdle } = this.#options;
    if (this.#connection === undefined || this.#state !== "ready") return;
    this.#checker?.doubt(clock, checkup(), () => isServerIdle?.() === true);
  }

  /** Call when tmux has sent something. */
  received(): void {
    this.#receivedMs = this.#options.clock.nowMs();
    this.#warned = false;
    this.#checker?.received();
    if (this.#state === "degraded") this.#setState("ready");
  }

  /** Call when the connection has ended and its callers are settled. */
  lost(connection: ControlConnection, error: AppError): void {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#timer?.cancel();
    if (this.#state === "closed") return;
    this.#options.onEvent("connection.lost", { reason: error.details?.["reason"] ?? error.code });
    this.#setState("connecting");
    const nowMs = this.#options.clock.nowMs();
    this.#quickLosses = nowMs - this.#readyMs < this.#heartbeatMs ? this.#quickLosses + 1 : 0;
    const excess = this.#quickLosses - MAX_QUICK_LOSSES;
    this.#retryAt(nowMs + (excess > 0 ? backOffMs(excess, { minMs: RECONNECT_MIN_MS, maxMs: RECONNECT_MAX_MS }) : 0));
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    this.#isWaiting = false;
    const connection = this.#connection ?? this.#preparing;
    this.#connection = undefined;
    this.#preparing = undefined;
    this.#setState("closed");
    connection?.close(this.#unavailable());
  }

  async #connect(): Promise<void> {
    const opened = this.#options.open();
    const connection = opened instanceof Promise ? await opened : opened;
    this.#preparing = connection;
    // The supervisor was closed while `open` was probing: `prepare` gets a closed connection.
    if (this.#state === "closed") connection.close();
    try {
      await this.#options.prepare(connection);
      if (this.#state === "closed") throw this.#unavailable();
      if (connection.closed) throw new AppError("CONNECTION_LOST", "the connection to tmux was lost while starting");
    } catch (error) {
      if (this.#preparing === connection) this.#preparing = undefined;
      connection.close();
      throw error;
    }
    this.#timer?.cancel();
    this.#preparing = undefined;
    this.#connection = connection;
    this.#retryMs = RECONNECT_MIN_MS;
    this.#checker = new ConnectionChecker(connection);
    this.received();
    this.#readyMs = this.#receivedMs;
    this.#setState("ready");
    this.#heartbeatDueMs = this.#receivedMs + this.#heartbeatMs;
    this.#heartbeatAt(this.#heartbeatDueMs);
  }

  #checkNow(): Promise<void> {
    const { clock, checkup } = this.#options;
    if (this.#checker === undefined || this.#connection === undefined || this.#state !== "ready")
      return Promise.resolve();
    return this.#checker.check(clock, checkup());
  }

  /**
   * Bounds the first start, because callers wait for it and tmux may be stopped. Later connections wait until it continues.
   */
  #expectStartBy(deadlineMs: number): void {
    this.#timer = this.#options.clock.callAt(deadlineMs, () => {
      const nextMs = this.#receivedMs + HEARTBEAT_DEGRADED_MS;
      if (nextMs > this.#options.clock.nowMs()) this.#expectStartBy(nextMs);
      else this.#preparing?.close(notResponding("TMUX_UNAVAILABLE"));
    });
  }

  #retryAt(deadlineMs: number): void {
    this.#isWaiting = true;
    this.#timer = this.#options.clock.callAt(deadlineMs, () => {
      this.#isWaiting = false;
      this.#connect().catch((error: unknown) => this.#retryAfter(error));
    });
  }

  #retryAfter(error: unknown): void {
    if (this.#state === "closed") return;
    const { code, message } = toAppError(error);
    this.#options.onEvent("connection.retry", { code, reason: message, inMs: this.#retryMs });
    this.#retryAt(this.#options.clock.nowMs() + this.#retryMs);
    this.#retryMs = Math.min(RECONNECT_MAX_MS, this.#retryMs * 2);
  }

  #heartbeatAt(deadlineMs: number): void {
    this.#timer = this.#options.clock.callAt(deadlineMs, () => {
      // This process slept (the machine was suspended, or we were stopped), and tmux's replies may be unread.
      const lateMs = this.#options.clock.nowMs() - deadlineMs;
      if (lateMs >= HEARTBEAT_INTERVAL_MS) this.#receivedMs += lateMs;
      this.#heartbeat();
    });
  }

  /** Sends the query at each heartbeat; while tmux is silent, wakes at the next deadline. */
  #heartbeat(): void {
    const [connection, checker] = [this.#connection, this.#checker];
    if (connection === undefined || checker === undefined) return;
    const nowMs = this.#options.clock.nowMs();
    const silentMs = nowMs - this.#receivedMs;
    if (silentMs >= HEARTBEAT_WARN_MS) this.#silent(checker, silentMs);
    else if (nowMs >= this.#heartbeatDueMs) {
      this.#heartbeatDueMs = nowMs + this.#heartbeatMs;
      if (!checker.isWaiting) this.#options.onBeat?.();
      checker.heartbeat(nowMs, this.#options.checkup());
    }
    if (connection !== this.#connection) return;
    const next = [HEARTBEAT_WARN_MS, HEARTBEAT_DEGRADED_MS].map((ms) => this.#receivedMs + ms);
    if (this.#heartbeatDueMs > nowMs) next.push(this.#heartbeatDueMs);
    this.#heartbeatAt(Math.min(nowMs + HEARTBEAT_INTERVAL_MS, ...next.filter((ms) => ms > nowMs)));
  }

  #silent(checker: ConnectionChecker, silentMs: number): void {
    if (silentMs >= HEARTBEAT_DEGRADED_MS && this.#state === "ready") {
      this.#setState("degraded");
      this.#connection?.abandonPending(this.#unavailable());
    }
    if (!this.#warned) {
      this.#warned = true;
      this.#options.onEvent("heartbeat.late", { silentMs: Math.round(silentMs) });
    }
    // A timer runs before what has arrived is read: if this process was busy, tmux's reply may be unread.
    setImmediate(() => this.#judgeSilence(checker));
  }

  #judgeSilence(checker: ConnectionChecker): void {
    const nowMs = this.#options.clock.nowMs();
    const isOver = checker !== this.#checker || this.#connection === undefined;
    if (isOver || nowMs - this.#receivedMs < HEARTBEAT_WARN_MS) return;
    checker.silent(this.#options.isServerIdle?.() === true);
    if (!checker.wasIdle || this.#connection === undefined) return;
    this.#timer?.cancel();
    this.#heartbeatAt(nowMs + PROBE_AGAIN_MS);
  }

  get #heartbeatMs(): number {
    return this.#options.heartbeatMs ?? HEARTBEAT_INTERVAL_MS;
  }

  #setState(state: ServerState): void {
    if (this.#state === state || this.#state === "closed") return;
    this.#state = state;
    this.#options.onState(state);
  }

  #unavailable(): AppError {
    switch (this.#state) {
      case "closed":
        return shuttingDown();
      case "degraded":
        return notResponding();
      case "connecting":
      case "ready":
        return noConnection();
    }
  }
}

/** At the start no connection was lost; tmux did not start, and its last message says why. */
function startError(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "CONNECTION_LOST") return error;
  const reason = error.details?.["reason"];
  const words = typeof reason === "string" ? reason : error.message;
  return new AppError("TMUX_UNAVAILABLE", `tmux could not be started: ${words}`, { cause: error });
}
