/**
 * The daemon: joins the parts and keeps them until it is told to stop. Starting is in the order in which things can fail for
 * a reason a person can mend: tmux, certificate, port. Stopping is bounded and answers whatever is under way
 * (`OpenParts`); programs in panes go on.
 */
import { systemClock } from "../../daemon/time/clock.ts";
import { createReadiness } from "../../daemon/readiness/engine.ts";
import { WaitManager } from "../../daemon/waits/waitManager.ts";
import { startAddin } from "./serveAddin.ts";
import { startDashboard } from "./serveDashboard.ts";
import { requireNoOther, startNative } from "./serveNative.ts";
import type { ServeOptions } from "./serveParts.ts";
import { Guests, OpenParts, openDelivery } from "./serveParts.ts";

export interface Daemon {
  /** Safe to call twice. */
  stop(): Promise<void>;
}

/** @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE: nothing is left running then. */
export async function startDaemon(options: ServeOptions): Promise<Daemon> {
  const { log, only } = options;
  const open = new OpenParts(log);
  let stopping: Promise<void> | undefined;
  try {
    const onListenerError = (error: unknown): void => log.error("wait.listener.failed", { error });
    const waits = new WaitManager({ clock: systemClock, onListenerError });
    open.surfaces.push(() => waits.close());
    const readiness = createReadiness({
      clock: systemClock,
      nowUnixMs: Date.now,
      onError: (error) => log.error("readiness.failed", { error }),
    });
    open.rest.push(() => readiness.close());
    const delivery = openDelivery(options, readiness);
    open.surfaces.push(() => delivery.stop());
    open.rest.push(() => delivery.close());
    const guests = new Guests(options, open);
    const context = { ...options, waits, readiness, delivery, guests, open };
    const isLocal = only.has("native") || only.has("team");
    if (isLocal) await requireNoOther(context);
    if (only.has("addin")) await startAddin(context);
    if (isLocal) await startNative(context);
    if (only.has("dashboard")) await startDashboard(context);
  } catch (error) {
    await open.close();
    throw error;
  }
  return { stop: () => (stopping ??= open.close()) };
}
