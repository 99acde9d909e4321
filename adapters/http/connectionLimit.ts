/**
 * How many connections a listener takes: the limit of the table, or fewer where the system gives the process few
 * descriptors, so that the connections to tmux and the files it needs are never starved by clients that only sit there.
 */
import { readFileSync } from "node:fs";
import { MAX_CONNECTIONS } from "./limits.ts";

/** Of the descriptors, what one listener may use: two listeners and the rest share the other half. */
const SHARE = 1 / 4;

export const connectionLimit = (): number => Math.min(MAX_CONNECTIONS, Math.floor(descriptorLimit() * SHARE));

/** The soft limit on open files; Linux tells it in /proc, elsewhere the table's limit stands. */
function descriptorLimit(): number {
  try {
    const limit = Number(/^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1]);
    return Number.isFinite(limit) ? limit : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
