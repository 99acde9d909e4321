/** Waits for something with a timeout. */
import type { Clock } from "./clock.ts";

/**
 * Resolves with what `start` passes to `done`, or with `late` after `ms`. The function that `start` returns is called then,
 * so that no timer and no subscription is left.
 */
export function within<T>(
  clock: Clock,
  ms: number,
  late: T,
  start: (done: (value: T) => void) => (() => void) | void,
): Promise<T> {
  const ends: (() => void)[] = [];
  return new Promise<T>((resolve) => {
    const timer = clock.callAt(clock.nowMs() + ms, () => resolve(late));
    ends.push(() => timer.cancel());
    const release = start(resolve);
    if (release !== undefined) ends.push(release);
  }).finally(() => {
    for (const end of ends) end();
  });
}

/** Whether it `isSo` within `ms`: looked at now, and whenever the caller of `watch` is told of something. */
export const untilSo = (
  clock: Clock,
  ms: number,
  isSo: () => boolean,
  watch: (check: () => void) => () => void,
): Promise<boolean> =>
  within(clock, ms, false, (done) => {
    const check = (): void => {
      if (isSo()) done(true);
    };
    check();
    return watch(check);
  });

/** Resolves after `ms`, at once for 0 or less. @throws the reason of `signal` when it aborts */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (ms <= 0 && signal?.aborted !== true) return Promise.resolve();
  return untilAborted(signal, (resolve) => {
    const timer = clock.callAt(clock.nowMs() + ms, resolve);
    return () => timer.cancel();
  });
}

/**
 * A promise that rejects with the reason of `signal` when it aborts. The function that `start` returned is called exactly
 * once, when the promise settles. `start` is not called if the signal has already aborted.
 */
export function untilAborted<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void,
): Promise<T> {
  const ends: (() => void)[] = [];
  return new Promise<T>((resolve, reject) => {
    signal?.throwIfAborted();
    const onAbort = (): void => reject(signal?.reason as Error);
    signal?.addEventListener("abort", onAbort);
    ends.push(() => signal?.removeEventListener("abort", onAbort), start(resolve, reject));
  }).finally(() => {
    for (const end of ends) end();
  });
}
