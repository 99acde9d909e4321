/**
 * The attach clients of a guest server, at most one per session and none that nobody needs. Each pane in use belongs to
 * exactly one of them, however many sessions show its window: its bytes are taken from that one and ignored on the
 * others. A pane whose window leaves its client's session loses its stream; whoever wants it opens it again elsewhere.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../../protocol/ids.ts";
import { RECONNECT_MAX_MS, RECONNECT_MIN_MS } from "../../../protocol/limits.ts";
import type { Clock, Timer } from "../../time/clock.ts";
import type { AttachClient, AttachClientOptions } from "./attachClient.ts";
import type { ServerCounters } from "../../tmux/inventory.ts";

interface AttachClientsOptions {
  readonly clock: Clock;
  /** A pane, and then a session, that nobody has used for this long is released. */
  readonly idleMs: number;
  readonly make: (session: SessionId, hooks: Pick<AttachClientOptions, "onIdle" | "onClosed">) => AttachClient;
  /** Streams that were in use have ended though their panes exist: they can be reopened now. */
  readonly onReopen: () => void;
}

export class AttachClients {
  readonly #options: AttachClientsOptions;
  readonly #clients = new Map<SessionId, AttachClient>();
  #past: ServerCounters = { outputBytes: 0, pauses: 0 };
  #sweepTimer: Timer | undefined;
  #reopenTimer: Timer | undefined;
  #reopenMs = Infinity;
  #retryMs = RECONNECT_MIN_MS;

  constructor(options: AttachClientsOptions) {
    this.#options = options;
  }

  get(session: SessionId): AttachClient | undefined {
    return this.#clients.get(session);
  }

  all(): readonly AttachClient[] {
    return [...this.#clients.values()];
  }

  /** The client that carries the pane now. */
  carrying(pane: PaneId): AttachClient | undefined {
    return this.all().find((client) => client.carries(pane));
  }

  /** The client for a pane of these sessions, in order of preference; an existing one is preferred to a new one. */
  forPane(pane: PaneId, sessions: readonly SessionId[]): AttachClient | undefined {
    const session = sessions.find((id) => this.#clients.has(id)) ?? sessions[0];
    const known = this.carrying(pane) ?? (session === undefined ? undefined : this.#clients.get(session));
    if (known !== undefined || session === undefined) return known;
    const client = this.#options.make(session, {
      onIdle: () => this.#sweepAt(this.#options.clock.nowMs() + this.#options.idleMs),
      onClosed: (ended, { wasUsed, wasReady }) => {
        if (this.#clients.get(session) === ended) this.#clients.delete(session);
        this.#past = sum(this.#past, ended.registry.counters());
        if (wasReady) this.#retryMs = RECONNECT_MIN_MS;
        if (wasUsed) this.#reopenAfter(wasReady ? 0 : this.#nextRetryMs());
      },
    });
    if (!client.isClosed) this.#clients.set(session, client);
    return client;
  }

  /** Ends the streams of panes that are no longer where their client can see them, by `isStill`. */
  checkPlaces(isStill: (pane: PaneId, client: AttachClient) => boolean): void {
    let wasUsed = false;
    for (const client of this.all()) {
      for (const pane of client.panes) {
        if (!isStill(pane, client)) wasUsed = client.closePane(pane, moved(pane)) || wasUsed;
      }
    }
    if (wasUsed) this.#reopenAfter(0);
  }

  counters(): ServerCounters {
    return this.all().reduce((total, client) => sum(total, client.registry.counters()), this.#past);
  }

  /** Safe to call twice. */
  close(error: AppError): void {
    for (const client of this.all()) client.close(error);
    this.#sweepTimer?.cancel();
    this.#reopenTimer?.cancel();
  }

  #sweepAt(deadlineMs: number): void {
    this.#sweepTimer ??= this.#options.clock.callAt(deadlineMs, () => {
      this.#sweepTimer = undefined;
      this.#sweep();
    });
  }

  #sweep(): void {
    const { clock, idleMs } = this.#options;
    const nowMs = clock.nowMs();
    let nextMs = Number.POSITIVE_INFINITY;
    const unused = new AppError("CONNECTION_LOST", "this stream was closed because nothing used it; open it again");
    for (const client of this.all()) {
      for (const pane of client.panes) {
        const dueMs = (client.idleSinceMs(pane) ?? Number.POSITIVE_INFINITY) + idleMs;
        if (dueMs <= nowMs) client.closePane(pane, unused);
        else nextMs = Math.min(nextMs, dueMs);
      }
      if (client.panes.length === 0) client.close(unused);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#sweepAt(nextMs);
  }

  #nextRetryMs(): number {
    const retryMs = this.#retryMs;
    this.#retryMs = Math.min(RECONNECT_MAX_MS, retryMs * 2);
    return retryMs;
  }

  #reopenAfter(delayMs: number): void {
    const { clock, onReopen } = this.#options;
    const dueMs = clock.nowMs() + delayMs;
    // One that cannot be opened is tried again late, and the others do not wait for it.
    if (this.#reopenMs <= dueMs) return;
    this.#reopenTimer?.cancel();
    this.#reopenMs = dueMs;
    this.#reopenTimer = clock.callAt(dueMs, () => {
      this.#reopenMs = Infinity;
      onReopen();
    });
  }
}

const moved = (pane: PaneId): AppError =>
  new AppError("CONNECTION_LOST", `pane ${pane} moved to another session; open its stream again`);

const sum = (a: ServerCounters, b: ServerCounters): ServerCounters => ({
  outputBytes: a.outputBytes + b.outputBytes,
  pauses: a.pauses + b.pauses,
});
