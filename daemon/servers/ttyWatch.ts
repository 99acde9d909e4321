/**
 * Detects changes that tmux does not report to a guest's control client: a program ended while its pane stays
 * (`remain-on-exit`), a program was restarted, or a pane of a session we are not attached to was opened or closed. Each of
 * these creates or removes a terminal, which some hosts report. An event only triggers a listing, and bursts share one. If the
 * host does not report terminals, tmux is asked with every heartbeat.
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
  /** Queries tmux: now for the first event, and once for those right after it. */
  readonly probe: () => void;
}

/** Undefined: the host does not report terminals. */
export function watchTtys({ clock, terminals, isReason, probe }: TtyWatchOptions): Closable | undefined {
  const pace = new PacedProbe({ clock, intervalMs: TTY_PROBE_INTERVAL_MS, probe });
  const watcher = terminals.watch((what) => {
    if (isReason?.(what) !== false) pace.changed();
  });
  const close = (): void => {
    pace.clear();
    watcher?.close();
  };
  return watcher && { close };
}
