/**
 * What tmux tells no control client of a guest: that a pane's program has ended while the pane stays (`remain-on-exit`), that one
 * was restarted, that a pane of a session we are not attached to came or went. Each of these makes or removes a
 * terminal, which some hosts tell. An event is only ever a reason to list, and bursts share one listing. Where the host
 * does not tell (`isReported`), tmux is asked with every heartbeat.
 */
import { TTY_PROBE_INTERVAL_MS } from "../../protocol/limits.ts";
import type { Closable, HostTerminals } from "../host/host.ts";
import type { Clock } from "../time/clock.ts";
import { PacedProbe } from "./pacedProbe.ts";

interface TtyWatchOptions {
  readonly clock: Clock;
  readonly terminals: HostTerminals;
  /** Whether this is a reason to ask; default: always. */
  readonly isReason?: ((what: "came" | "gone") => boolean) | undefined;
  /** Asks tmux. */
  readonly probe: () => void;
}

export class TtyWatch {
  readonly #watcher: Closable | undefined;
  readonly #pace: PacedProbe;

  constructor({ clock, terminals, isReason, probe }: TtyWatchOptions) {
    this.#pace = new PacedProbe({ clock, intervalMs: TTY_PROBE_INTERVAL_MS, probe });
    this.#watcher = terminals.watch((what) => {
      if (isReason?.(what) !== false) this.changed();
    });
  }

  /** Whether the host tells. */
  get isReported(): boolean {
    return this.#watcher !== undefined;
  }

  /** The first change is probed now, those right after it together. */
  changed(): void {
    this.#pace.changed();
  }

  /** Safe to call twice. */
  close(): void {
    this.#pace.clear();
    this.#watcher?.close();
  }
}
