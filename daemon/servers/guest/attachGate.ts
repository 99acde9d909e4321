/**
 * When a control client of ours may attach to a server that is not ours, and when it may leave. tmux before 3.7 crashes,
 * with everything in it, when it notifies all control clients while one of them is still introducing itself, or when such
 * a client is gone before it has finished (docs/tmuxFacts.md 50). So none attaches while sessions and clients come and go,
 * none leaves while another attaches, and none is closed before tmux has replied to it. A few attach at a time, in the order
 * in which they were requested: two hundred at once would keep the server from replying.
 */
import type { Notification } from "../../../protocol/control/notifications.ts";
import type { Clock, Timer } from "../../time/clock.ts";

interface AttachGateOptions {
  readonly clock: Clock;
  /** Most control clients that attach at the same time. */
  readonly most: number;
  /** The server is calm when tmux has notified nobody for this long. */
  readonly calmMs: number;
  /** Longest wait for a server that is never calm. */
  readonly withinMs: number;
}

/** What tmux sends to every control client, even one without a session yet. */
const SENT_TO_ALL: ReadonlySet<Notification["kind"]> = new Set([
  "sessions-changed",
  "session-renamed",
  "session-window-changed",
  "window-pane-changed",
  "pane-mode-changed",
  "client-detached",
]);

interface Arrival {
  readonly sinceMs: number;
  readonly calmMs: number;
  readonly begin: () => void;
}

export class AttachGate {
  readonly #options: AttachGateOptions;
  #coming = 0;
  readonly #waiting = new Set<Arrival>();
  #leaving: (() => void)[] = [];
  #disturbedMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(options: AttachGateOptions) {
    this.#options = options;
  }

  noticed({ kind }: Notification): void {
    if (SENT_TO_ALL.has(kind)) this.disturbed();
  }

  /** A session or a client came or went. */
  disturbed(): void {
    this.#disturbedMs = this.#options.clock.nowMs();
  }

  /**
   * Resolves when a client may be started, with what to call once tmux has replied to it or it has ended; safe to
   * call twice. Rejects with the signal's reason if that comes first.
   * @param calmMs for a client that is less urgent than others
   */
  async enter(signal?: AbortSignal, calmMs = this.#options.calmMs): Promise<() => void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.delete(arrival);
        reject(signal?.reason as Error);
      };
      const begin = (): void => {
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const arrival = { sinceMs: this.#options.clock.nowMs(), calmMs, begin };
      this.#waiting.add(arrival);
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

  #dismiss(): void {
    if (this.#coming > 0 || this.#leaving.length === 0) return;
    for (const detach of this.#leaving.splice(0)) detach();
    this.disturbed();
  }

  #admit(): void {
    const { clock, most, withinMs } = this.#options;
    this.#timer?.cancel();
    this.#timer = undefined;
    // Arrivals must not hold up departures for ever.
    while (this.#coming < most && this.#leaving.length === 0) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      const dueMs = Math.min(this.#disturbedMs + next.calmMs, next.sinceMs + withinMs);
      if (dueMs > clock.nowMs()) {
        this.#timer = clock.callAt(dueMs, () => this.#admit());
        return;
      }
      this.#waiting.delete(next);
      this.#coming += 1;
      next.begin();
    }
  }
}
