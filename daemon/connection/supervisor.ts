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
  readonly onBeat: () => void;
  /** Whether tmux is idle; false if that cannot be known. */
  readonly isServerIdle: () => boolean;
  /** For the log: fixed event names, no pane text. */
  readonly onEvent: (event: "connection.lost" | "connection.retry" | "heartbeat.late", details: object) => void;
}

export class Supervisor {
  readonly #options: SupervisorOptions;
  /** Of the connection in use. */
  #checker: ConnectionChecker | undefined;
  /** The last one, in use or yet to be prepared. */
  #opened: ControlConnection | undefined;
  #state: ServerState = "connecting";
  #receivedMs = 0;
  #warned = false;
  #heartbeatDueMs = 0;
  #readyMs = 0;
  #quickLosses = 0;
  #retryMs = RECONNECT_MIN_MS;
  /** Queues one more check, because the reply to a pending one may be older than the caller's event. */
  readonly #checking = new SingleFlight(() => this.#checkNow());
  /** One at a time: until the first start has failed, the next attempt or the next heartbeat. */
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
      await this.#connect((connection) => this.#expectReply(connection));
    } catch (error) {
      this.close();
      throw startError(error);
    }
  }

  /** Like `start`, for a server that may not exist: resolves after the first attempt, whatever its outcome; more follow. */
  async startOrWait(): Promise<void> {
    await this.#connect().catch((error: unknown) => this.#retryAfter(error));
  }

  /** Call when an attempt is likely to succeed: a scheduled one is made at once, a running one is repeated soon if it fails. */
  retryNow(): void {
    this.#retryMs = RECONNECT_MIN_MS;
    if (this.#isWaiting) this.#retryAt(this.#options.clock.nowMs());
  }

  /** The connection to send on. @throws AppError CONNECTION_LOST while there is none or tmux does not respond. */
  connection(): ControlConnection {
    const checker = this.#responding;
    if (checker === undefined) throw this.#unavailable();
    return checker.connection;
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
    this.#responding?.doubt(clock, checkup(), isServerIdle);
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
    if (connection !== this.#checker?.connection) return;
    this.#checker = undefined;
    this.#options.onEvent("connection.lost", { reason: error.details?.["reason"] ?? error.code });
    this.#setState("connecting");
    // By somebody who was told of that.
    if (this.#state === "closed") return;
    const nowMs = this.#options.clock.nowMs();
    this.#quickLosses = nowMs - this.#readyMs < this.#heartbeatMs ? this.#quickLosses + 1 : 0;
    const excess = this.#quickLosses - MAX_QUICK_LOSSES;
    this.#retryAt(nowMs + (excess > 0 ? backOffMs(excess, { minMs: RECONNECT_MIN_MS, maxMs: RECONNECT_MAX_MS }) : 0));
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    this.#isWaiting = false;
    this.#checker = undefined;
    this.#setState("closed");
    this.#opened?.close(this.#unavailable());
  }

  /** @param opened called with a connection that is yet to be prepared */
  async #connect(opened?: (connection: ControlConnection) => void): Promise<void> {
    const connection = await this.#options.open();
    this.#opened = connection;
    try {
      this.#requireNotClosed();
      opened?.(connection);
      await this.#options.prepare(connection);
      this.#requireNotClosed();
      if (connection.closed) throw new AppError("CONNECTION_LOST", "the connection to tmux was lost while starting");
    } catch (error) {
      connection.close();
      throw error;
    }
    const checker = new ConnectionChecker(connection);
    this.#checker = checker;
    this.#retryMs = RECONNECT_MIN_MS;
    this.received();
    this.#readyMs = this.#receivedMs;
    this.#heartbeatDueMs = this.#receivedMs + this.#heartbeatMs;
    this.#heartbeatAt(checker, this.#heartbeatDueMs);
    this.#setState("ready");
  }

  /** It may be closed while something is awaited. */
  #requireNotClosed(): void {
    if (this.#state === "closed") throw this.#unavailable();
  }

  async #checkNow(): Promise<void> {
    const { clock, checkup } = this.#options;
    await this.#responding?.check(clock, checkup());
  }

  get #responding(): ConnectionChecker | undefined {
    return this.#state === "ready" ? this.#checker : undefined;
  }

  /**
   * Bounds the first start, because callers wait for it and tmux may be stopped. Later connections wait until it continues.
   */
  #expectReply(connection: ControlConnection): void {
    const { clock } = this.#options;
    this.#receivedMs = clock.nowMs();
    const lookAgain = (): void => {
      const nextMs = this.#receivedMs + HEARTBEAT_DEGRADED_MS;
      if (nextMs > clock.nowMs()) this.#wakeAt(nextMs, lookAgain);
      else connection.close(notResponding("TMUX_UNAVAILABLE"));
    };
    lookAgain();
  }

  #retryAt(deadlineMs: number): void {
    this.#isWaiting = true;
    this.#wakeAt(deadlineMs, () => {
      this.#isWaiting = false;
      void this.startOrWait();
    });
  }

  #retryAfter(error: unknown): void {
    if (this.#state === "closed") return;
    const { code, message } = toAppError(error);
    this.#options.onEvent("connection.retry", { code, reason: message, inMs: this.#retryMs });
    this.#retryAt(this.#options.clock.nowMs() + this.#retryMs);
    this.#retryMs = Math.min(RECONNECT_MAX_MS, this.#retryMs * 2);
  }

  #wakeAt(deadlineMs: number, run: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.callAt(deadlineMs, run);
  }

  #heartbeatAt(checker: ConnectionChecker, deadlineMs: number): void {
    this.#wakeAt(deadlineMs, () => {
      // This process slept (the machine was suspended, or we were stopped), and tmux's replies may be unread.
      const nowMs = this.#options.clock.nowMs();
      const lateMs = nowMs - deadlineMs;
      // Some may have been read before this timer.
      if (lateMs >= HEARTBEAT_INTERVAL_MS) this.#receivedMs = Math.min(nowMs, this.#receivedMs + lateMs);
      this.#heartbeat(checker);
    });
  }

  /** Sends the query at each heartbeat; while tmux is silent, wakes at the next deadline. */
  #heartbeat(checker: ConnectionChecker): void {
    const nowMs = this.#options.clock.nowMs();
    const silentMs = nowMs - this.#receivedMs;
    if (silentMs >= HEARTBEAT_WARN_MS) this.#silent(checker, silentMs);
    else if (nowMs >= this.#heartbeatDueMs) {
      this.#heartbeatDueMs = nowMs + this.#heartbeatMs;
      if (!checker.isWaiting) this.#options.onBeat();
      checker.heartbeat(nowMs, this.#options.checkup());
    }
    if (checker !== this.#checker) return;
    const next = [this.#receivedMs + HEARTBEAT_WARN_MS, this.#receivedMs + HEARTBEAT_DEGRADED_MS, this.#heartbeatDueMs];
    this.#heartbeatAt(checker, Math.min(nowMs + HEARTBEAT_INTERVAL_MS, ...next.filter((ms) => ms > nowMs)));
  }

  #silent(checker: ConnectionChecker, silentMs: number): void {
    if (silentMs >= HEARTBEAT_DEGRADED_MS) {
      this.#setState("degraded");
      checker.connection.abandonPending(this.#unavailable());
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
    if (nowMs - this.#receivedMs < HEARTBEAT_WARN_MS) return;
    checker.silent(this.#options.isServerIdle());
    if (checker === this.#checker && checker.wasIdle) this.#heartbeatAt(checker, nowMs + PROBE_AGAIN_MS);
  }

  get #heartbeatMs(): number {
    return this.#options.heartbeatMs ?? HEARTBEAT_INTERVAL_MS;
  }

  #setState(state: ServerState): void {
    if (this.#state === state) return;
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
