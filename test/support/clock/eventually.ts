/**
 * For what nothing announces. The test's own time-out ends a vain wait. A look may start a process, and several test files
 * share two cores: the longer it takes, the less often it is repeated.
 */
import { setTimeout as delay } from "node:timers/promises";

/** Of the time waited so far, at most this part is added by not looking. */
const PART = 1 / 8;
const MAX_PAUSE_MS = 50;

export async function eventually(holds: () => boolean | Promise<boolean>, everyMs = 2): Promise<void> {
  const startMs = performance.now();
  for (let lookMs = startMs; !(await holds()); lookMs = performance.now()) {
    const nowMs = performance.now();
    const pauseMs = Math.max((nowMs - startMs) * PART, nowMs - lookMs);
    await delay(Math.max(everyMs, Math.min(pauseMs, MAX_PAUSE_MS)));
  }
}
