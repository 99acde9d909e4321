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

export const sleep = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.callAt(clock.nowMs() + ms, resolve));
