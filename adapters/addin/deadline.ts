/**
 * Deadlines and pauses of the add-in's requests. Both end at once when the request is aborted (its client disconnected, or
 * another of its operations took too long), and neither leaves a timer or a listener behind.
 */
import type { Clock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";

/**
 * Settles with `run`. Rejects with COMMAND_TIMEOUT after `timeoutMs`, which aborts the whole request, or with the reason for
 * which the request was aborted. A command already sent to tmux cannot be withdrawn: only the wait for it ends.
 */
export function withDeadline<T>(
  clock: Clock,
  timeoutMs: number,
  request: AbortController,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal } = request;
  return settleOnce<T>(signal, (resolve, reject) => {
    const timer = clock.callAt(clock.nowMs() + timeoutMs, () => {
      request.abort(new AppError("COMMAND_TIMEOUT", `tmux command timed out after ${timeoutMs}ms.`));
    });
    run(signal).then(resolve, reject);
    return () => timer.cancel();
  });
}

/** Resolves after `ms`, at once for 0. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 && !signal.aborted) return Promise.resolve();
  return settleOnce<void>(signal, (resolve) => {
    const timer = clock.callAt(clock.nowMs() + ms, resolve);
    return () => timer.cancel();
  });
}

/**
 * A promise that rejects with the reason of `signal` when it aborts. The function that `start` returned is called exactly
 * once, when the promise settles. `start` is not called if the signal has already aborted.
 */
export function settleOnce<T>(
  signal: AbortSignal,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  const ends: (() => void)[] = [];
  return new Promise<T>((resolve, reject) => {
    signal.throwIfAborted();
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort);
    ends.push(() => signal.removeEventListener("abort", onAbort), start(resolve, reject));
  }).finally(() => {
    for (const end of ends) end();
  });
}
