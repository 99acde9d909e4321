/**
 * Detects changes that tmux does not report to a guest's control client: a program ended while its pane stays
 * (`remain-on-exit`), a program was restarted, or a pane of a session we are not attached to was opened or closed. Each of
 * these creates or removes a terminal, which some hosts report. An event only triggers a listing, and bursts share one. If the
 * host does not report terminals (`isReported`), tmux is asked with every heartbeat.
 */
import { TTY_PROBE_INTERVAL_MS } from "../../protocol/limits.ts";
import type { Closable, HostTerminals } from "../host/host.ts";
import type { Clock } from "../time/clock.ts";
import { PacedProbe } from "./pacedProbe.ts";

interface TtyWatchOptions {
  readonly clock: Clock;
  readonly terminals: HostTerminals;
  /** Whether to query tmux after this event; default: always. */
  readonly isReason?: ((what: "came" | "gone") => boolean) | undefined;
  /** Queries tmux. */
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

  /** Whether the host reports terminals. */
  get isReported(): boolean {
    return this.#watcher !== undefined;
  }

  /** Queries now for the first change, and once for those right after it. */
  changed(): void {
    this.#pace.changed();
  }

  /** Safe to call twice. */
  close(): void {
    this.#pace.clear();
    this.#watcher?.close();
  }
}
