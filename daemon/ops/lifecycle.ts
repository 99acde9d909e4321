/**
 * Shutdown: the first signal stops the daemon in order and within a time limit, a second one at once. Exit and signals are
 * parameters, so that the rules can be tested without a process.
 */
import type { Clock } from "../time/clock.ts";
import type { Log } from "./log.ts";

export const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** A signal, or that another daemon takes this one's place. */
export type StopReason = StopSignal | "restart";
type StopSignal = (typeof STOP_SIGNALS)[number];

/** We promise to exit within 2 s of SIGTERM; exiting itself takes a moment. */
export const STOP_WITHIN_MS = 1_700;
/** Nobody kills a daemon that restarts: it hands over only what it has let go. */
const RESTART_WITHIN_MS = 20_000;

/**
 * One Ctrl-C may arrive twice: from the terminal, and from the program that started us, if it forwards signals as npm does.
 * A person who presses Ctrl-C again takes longer than this.
 */
export const SAME_SIGNAL_MS = 300;

/** 128 + the signal's number, as shells report it. */
const SIGNAL_EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

interface LifecycleOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Stops everything in order. */
  readonly stop: () => Promise<void>;
  /** Calls the handler for each reason to stop; returns the unsubscribe function. */
  readonly onStop: (handler: (reason: StopReason) => void) => () => void;
}

/** Resolves with the exit code once the process may exit. */
export function untilStopRequested(options: LifecycleOptions): Promise<number> {
  const { clock, log, stop, onStop } = options;
  return new Promise((resolve) => {
    let first: { readonly reason: StopReason; readonly atMs: number } | undefined;
    const finish = (exitCode: number): void => {
      off();
      resolve(exitCode);
    };
    const off = onStop((reason) => {
      const startedMs = clock.nowMs();
      if (first !== undefined) {
        const isSame = reason === first.reason && startedMs - first.atMs < SAME_SIGNAL_MS;
        if (!isSame && reason !== "restart") finish(SIGNAL_EXIT_CODES[reason]);
        return;
      }
      first = { reason, atMs: startedMs };
      log.info("daemon.stopping", { reason });
      const withinMs = reason === "restart" ? RESTART_WITHIN_MS : STOP_WITHIN_MS;
      const timer = clock.callAt(startedMs + withinMs, () => {
        log.warn("daemon.stop.late", { afterMs: withinMs });
        finish(0);
      });
      const stopped = (error?: unknown): void => {
        timer.cancel();
        if (error === undefined) log.info("daemon.stopped", { elapsedMs: Math.round(clock.nowMs() - startedMs) });
        else log.error("daemon.stop.failed", { error });
        finish(error === undefined ? 0 : 1);
      };
      stop().then(() => stopped(), stopped);
    });
  });
}
