/**
 * What tmux tells no control client of a guest: that a pane's program has ended while the pane stays (`remain-on-exit`), that one
 * was restarted, that a pane of a session we are not attached to came or went. Each of these makes or removes a
 * terminal, which some hosts tell. An event is only ever a reason to list, and bursts share one listing. Where the host
 * does not tell (`isReported`), tmux is asked with every heartbeat.
 */
import { TTY_LOOK_INTERVAL_MS } from "../../protocol/limits.ts";
import type { Closable, HostTerminals } from "../host/host.ts";
import type { Clock, Timer } from "../time/clock.ts";

interface TtyWatchOptions {
  readonly clock: Clock;
  readonly terminals: HostTerminals;
  /** Whether this is a reason to ask; default: always. */
  readonly isReason?: ((what: "came" | "gone") => boolean) | undefined;
  /** Asks tmux. */
  readonly probe: () => void;
}

export class TtyWatch {
  readonly #options: TtyWatchOptions;
  readonly #watcher: Closable | undefined;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | undefined;

  constructor(options: TtyWatchOptions) {
    this.#options = options;
    this.#watcher = options.terminals.watch((what) => {
      if (options.isReason?.(what) !== false) this.changed();
    });
  }

  /** Whether the host tells. */
  get isReported(): boolean {
    return this.#watcher !== undefined;
  }

  /** The first change is probed now, those right after it together. */
  changed(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    const dueMs = this.#lookedMs + TTY_LOOK_INTERVAL_MS;
    if (dueMs <= clock.nowMs()) this.#probe();
    else this.#timer = clock.callAt(dueMs, () => this.#probe());
  }

  /** Safe to call twice. */
  close(): void {
    this.#timer?.cancel();
    this.#watcher?.close();
  }

  #probe(): void {
    this.#timer = undefined;
    this.#lookedMs = this.#options.clock.nowMs();
    this.#options.probe();
  }
}
