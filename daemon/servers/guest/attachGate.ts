/**
 * When a control client of ours may attach to a server that is not ours, and when it may leave. tmux before 3.7 crashes,
 * with everything in it, when it notifies all control clients while one of them is still introducing itself as tmux's
 * own client does, or when such a client is gone before it has finished (docs/tmuxFacts.md 50). Where ours cannot
 * introduce themselves otherwise (`Introduction`), one attaches at a time and only to a calm server, however long that
 * takes; none leaves while another attaches, and none is closed before tmux has replied to it. Elsewhere a few attach at
 * a time, in the order in which they were requested.
 */
import type { Notification } from "../../../protocol/control/notifications.ts";
import {
  GUEST_BURST_PAUSE_MS,
  GUEST_CALM_MS,
  GUEST_CALM_PAUSES,
  GUEST_CALM_REMEMBERED_MS,
  MAX_GUEST_ATTACHING,
} from "../../../protocol/limits.ts";
import type { Clock, Timer } from "../../time/clock.ts";
import type { Waiting } from "../../tmux/outputSource.ts";
import type { ProbedServer } from "../introduction.ts";

/** What tmux sends to every control client, even one without a session yet. */
const SENT_TO_ALL: ReadonlySet<Notification["kind"]> = new Set([
  "sessions-changed",
  "session-renamed",
  "session-window-changed",
  "window-pane-changed",
  "pane-mode-changed",
  "client-detached",
]);

/** Pauses of the last minute that are kept; the longest of more than that is among the newest soon enough. */
const MAX_PAUSES = 256;

interface AttachGateOptions {
  readonly clock: Clock;
  readonly nowUnixMs?: () => number;
  readonly onWaiting: () => void;
}

export class AttachGate {
  readonly #clock: Clock;
  readonly #nowUnixMs: () => number;
  /** Called when a client begins to wait for a calm server, and when none does any more. */
  readonly #onWaiting: () => void;
  #server: ProbedServer = { version: "", introduction: "calm" };
  #coming = 0;
  readonly #queue = new Set<() => void>();
  #leaving: (() => void)[] = [];
  /** Nobody knows what was before us. */
  #disturbedMs: number;
  #pauses: { readonly endMs: number; readonly ms: number }[] = [];
  #waiting: Waiting | undefined;
  #timer: Timer | undefined;

  constructor({ clock, nowUnixMs = Date.now, onWaiting }: AttachGateOptions) {
    this.#clock = clock;
    this.#nowUnixMs = nowUnixMs;
    this.#onWaiting = onWaiting;
    this.#disturbedMs = clock.nowMs();
  }

  /** What was probed last. */
  get server(): ProbedServer {
    return this.#server;
  }

  probed(server: ProbedServer): void {
    this.#server = server;
    this.#admit();
  }

  /** That clients have been waiting until the server is calm, and since when. */
  get waiting(): Waiting | undefined {
    return this.#waiting;
  }

  noticed({ kind }: Notification): void {
    if (SENT_TO_ALL.has(kind)) this.disturbed();
  }

  /** A session or a client came or went. */
  disturbed(): void {
    const endMs = this.#clock.nowMs();
    const ms = endMs - this.#disturbedMs;
    this.#disturbedMs = endMs;
    // A longer pause ends a burst.
    if (ms <= GUEST_BURST_PAUSE_MS) this.#pauses = [...this.#pauses.slice(1 - MAX_PAUSES), { endMs, ms }];
  }

  /**
   * Resolves when a client may be started, with what to call once tmux has replied to it or it has ended; safe to
   * call twice. Rejects with the signal's reason if that comes first.
   */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#queue.delete(begin);
        this.#admit();
        reject(signal?.reason as Error);
      };
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      this.#queue.add(begin);
      signal?.addEventListener("abort", leave, { once: true });
      this.#admit();
    });
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#coming -= 1;
      this.#dismiss();
      this.#admit();
    };
  }

  /** Calls `detach` once no client is attaching: now, or soon. */
  leave(detach: () => void): void {
    this.#leaving.push(detach);
    this.#dismiss();
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  get #needsCalm(): boolean {
    return this.#server.introduction === "calm";
  }

  #dismiss(): void {
    if ((this.#needsCalm && this.#coming > 0) || this.#leaving.length === 0) return;
    for (const detach of this.#leaving.splice(0)) detach();
    this.disturbed();
  }

  #admit(): void {
    this.close();
    const most = this.#needsCalm ? 1 : MAX_GUEST_ATTACHING;
    // Arrivals must not hold up departures for ever.
    while (this.#coming < most && this.#leaving.length === 0 && this.#queue.size > 0) {
      const dueMs = this.#needsCalm ? this.#disturbedMs + this.#calmMs() : Number.NEGATIVE_INFINITY;
      if (dueMs > this.#clock.nowMs()) {
        this.#timer = this.#clock.callAt(dueMs, () => this.#admit());
        break;
      }
      const [begin] = this.#queue;
      this.#queue.delete(begin!);
      this.#coming += 1;
      begin!();
    }
    // Behind one that attaches the others wait on, for the same reason.
    this.#noteWaiting(this.#needsCalm && this.#queue.size > 0);
  }

  /** Several times the longest pause within a burst of the last minute. */
  #calmMs(): number {
    const sinceMs = this.#clock.nowMs() - GUEST_CALM_REMEMBERED_MS;
    this.#pauses = this.#pauses.filter(({ endMs }) => endMs >= sinceMs);
    return Math.max(GUEST_CALM_MS, ...this.#pauses.map(({ ms }) => ms * GUEST_CALM_PAUSES));
  }

  #noteWaiting(isWaiting: boolean): void {
    if (isWaiting === (this.#waiting !== undefined)) return;
    this.#waiting = isWaiting ? { for: "calm", sinceUnixMs: Math.round(this.#nowUnixMs()) } : undefined;
    this.#onWaiting();
  }
}
