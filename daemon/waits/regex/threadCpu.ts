/**
 * How much CPU time a thread of this process has used. On a busy machine a thread can wait for a core longer than any
 * watchdog allows; only its CPU time may be held against it. Linux only (proc(5), `schedstat`).
 */
import { readFileSync } from "node:fs";

/** Milliseconds on a core since the thread began; undefined where that cannot be known. */
export function threadCpuMs(threadId: number | undefined): number | undefined {
  if (threadId === undefined) return undefined;
  try {
    const nanoseconds = Number.parseInt(readFileSync(`/proc/self/task/${threadId}/schedstat`, "latin1"), 10);
    return Number.isFinite(nanoseconds) ? nanoseconds / 1e6 : undefined;
  } catch {
    return undefined;
  }
}
