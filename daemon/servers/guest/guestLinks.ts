/**
 * The links of a guest's server, at most one per session and none that nobody needs. Each pane that is in use belongs to
 * exactly one of them, however many sessions show its window: its bytes are taken from that one and passed over on the
 * others. A pane whose window leaves its link's session loses its stream; whoever wants it opens it again elsewhere.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../../protocol/ids.ts";
import { RECONNECT_MAX_MS, RECONNECT_MIN_MS } from "../../../protocol/limits.ts";
import type { Clock, Timer } from "../../time/clock.ts";
import type { GuestLink, GuestLinkOptions } from "./guestLink.ts";
import type { ServerCounters } from "../../tmux/inventory.ts";

interface GuestLinksOptions {
  readonly clock: Clock;
  /** A pane, and then a session, that has been in nobody's use for this long is let go. */
  readonly idleMs: number;
  readonly make: (session: SessionId, hooks: Pick<GuestLinkOptions, "onIdle" | "onClosed">) => GuestLink;
  /** Streams that were in use have ended though their panes are there: they can be opened again now. */
  readonly onReopen: () => void;
}

export class GuestLinks {
  readonly #options: GuestLinksOptions;
  readonly #links = new Map<SessionId, GuestLink>();
  #past: ServerCounters = { outputBytes: 0, pauses: 0 };
  #sweepTimer: Timer | undefined;
  #reopenTimer: Timer | undefined;
  #retryMs = RECONNECT_MIN_MS;

  constructor(options: GuestLinksOptions) {
    this.#options = options;
  }

  get(session: SessionId): GuestLink | undefined {
    return this.#links.get(session);
  }

  all(): readonly GuestLink[] {
    return [...this.#links.values()];
  }

  /** The link that carries the pane now. */
  carrying(pane: PaneId): GuestLink | undefined {
    return this.all().find((link) => link.carries(pane));
  }

  /** The link for a pane of these sessions, the first the most welcome; one that is there is preferred to a new one. */
  forPane(pane: PaneId, sessions: readonly SessionId[]): GuestLink | undefined {
    const session = sessions.find((id) => this.#links.has(id)) ?? sessions[0];
    const known = this.carrying(pane) ?? (session === undefined ? undefined : this.#links.get(session));
    if (known !== undefined || session === undefined) return known;
    const link = this.#options.make(session, {
      onIdle: () => this.#sweepAt(this.#options.clock.nowMs() + this.#options.idleMs),
      onClosed: (ended, { wasUsed, wasReady }) => {
        if (this.#links.get(session) === ended) this.#links.delete(session);
        this.#past = sum(this.#past, ended.counters());
        if (wasReady) this.#retryMs = RECONNECT_MIN_MS;
        if (wasUsed) this.#reopenAfter(wasReady ? 0 : this.#nextRetryMs());
      },
    });
    if (!link.isClosed) this.#links.set(session, link);
    return link;
  }

  /** Ends the streams of panes that `isStill` denies to be where their link can see them. */
  checkPlaces(isStill: (pane: PaneId, link: GuestLink) => boolean): void {
    let wasUsed = false;
    for (const link of this.all()) {
      for (const pane of link.panes) {
        if (!isStill(pane, link)) wasUsed = link.closePane(pane, moved(pane)) || wasUsed;
      }
    }
    if (wasUsed) this.#reopenAfter(0);
  }

  counters(): ServerCounters {
    return this.all().reduce((total, link) => sum(total, link.counters()), this.#past);
  }

  /** Safe to call twice. */
  close(error: AppError): void {
    for (const link of this.all()) link.close(error);
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
    const unused = new AppError("CONNECTION_LOST", "nobody used this stream for a while; open it again");
    for (const link of this.all()) {
      for (const pane of link.panes) {
        const dueMs = (link.idleSinceMs(pane) ?? Number.POSITIVE_INFINITY) + idleMs;
        if (dueMs <= nowMs) link.closePane(pane, unused);
        else nextMs = Math.min(nextMs, dueMs);
      }
      if (link.panes.length === 0) link.close(unused);
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
    this.#reopenTimer ??= clock.callAt(clock.nowMs() + delayMs, () => {
      this.#reopenTimer = undefined;
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
