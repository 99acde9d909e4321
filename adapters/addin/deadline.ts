/**
 * Time in the add-in's requests: a bound on every tmux operation, and pauses. Both end at once when the client goes away,
 * and neither leaves a timer or a listener behind.
 */
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";

/** The reason a request ends when nobody is there to read its answer. */
export const clientGone = (): AppError => new AppError("CONNECTION_LOST", "the client closed the connection");

/**
 * Settles with `run`, or rejects with COMMAND_TIMEOUT after `timeoutMs`, or when `signal` aborts. `run` gets a signal that
 * aborts in both cases; what tmux has already been told cannot be taken back, only no longer waited for.
 */
export function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (signal.aborted) return Promise.reject(clientGone());
  const controller = new AbortController();
  return settleOnce<T>(signal, (resolve, reject) => {
    const expire = (): void => {
      const error = new AppError("COMMAND_TIMEOUT", `tmux command timed out after ${timeoutMs}ms.`);
      reject(error);
      controller.abort(error);
    };
    const timer = clock.callAt(clock.nowMs() + timeoutMs, expire);
    run(controller.signal).then(resolve, reject);
    return () => {
      timer.cancel();
      if (signal.aborted) controller.abort(clientGone());
    };
  });
}

/** Resolves after `ms`, at once for 0. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.reject(clientGone());
  if (ms <= 0) return Promise.resolve();
  return settleOnce<void>(signal, (resolve) => {
    const timer: Timer = clock.callAt(clock.nowMs() + ms, resolve);
    return () => timer.cancel();
  });
}

/** A promise that rejects when `signal` aborts and calls what `start` returned exactly once, when it settles. */
export function settleOnce<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let settled = false;
    let release: (() => void) | undefined;
    const settle = (act: () => void): void => {
      if (settled) return;
      settled = true;
      signal.removeEventListener("abort", onAbort);
      release?.();
      act();
    };
    const onAbort = (): void => settle(() => reject(clientGone()));
    signal.addEventListener("abort", onAbort, { once: true });
    release = start(
      (value) => settle(() => resolve(value)),
      (error) => settle(() => reject(error)),
    );
    if (settled) release();
  });
}
