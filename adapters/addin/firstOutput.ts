/**
 * The moment a pane responds. A `send_and_capture` without `wait_for` captures as soon as the pane has shown anything after
 * the send, typically the echo and within a fraction of a millisecond; the bridge that ours replaces took longer than
 * that to start its capture, so its clients have always seen the echo.
 */
import type { OutputSource } from "../../daemon/tmux/outputSource.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { settleOnce } from "./deadline.ts";

/** Longest wait for a pane that shows nothing, such as a password prompt: what two subprocesses used to take. */
export const FIRST_OUTPUT_MS = 10;

/** Resolves when `source` has passed `fromSeq`, has ended, or after `FIRST_OUTPUT_MS`. */
export function firstOutput(clock: Clock, source: OutputSource, fromSeq: number, signal: AbortSignal): Promise<void> {
  if (source.outputSeq > fromSeq) return Promise.resolve();
  return settleOnce<void>(signal, (resolve) => {
    const timer = clock.callAt(clock.nowMs() + FIRST_OUTPUT_MS, resolve);
    const done = (): void => resolve();
    const unsubscribe = source.subscribe({ advanced: done, gap: done, exited: done, closed: done });
    return () => {
      timer.cancel();
      unsubscribe();
    };
  });
}
