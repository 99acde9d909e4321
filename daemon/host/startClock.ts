/**
 * The time in which processes' starts are told, in seconds since the machine's boot. In a container the system may show the
 * container's own time since its start (lxcfs), while processes go on to be dated from the machine's: how far the two are
 * apart is seen once, by this process. Both count the time for which a machine sleeps, this process's own clock does not:
 * so it is seen at the start.
 */
import { uptime } from "node:os";
import process from "node:process";
import type { HostProcesses } from "./hostProcesses.ts";

/** Ticks of a process's start in a second: the kernel's USER_HZ, the same on every Linux. */
export const TICKS_PER_SEC = 100;
/** Less is what a process takes to begin. */
const SAME_WITHIN_SEC = 5;

interface OwnTimes {
  readonly uptimeSec: () => number;
  /** For how long this process has run. */
  readonly ownAgeSec: () => number;
}

const SYSTEM: OwnTimes = { uptimeSec: uptime, ownAgeSec: () => process.uptime() };

export function startClock(
  processes: Pick<HostProcesses, "statNow">,
  { uptimeSec, ownAgeSec }: OwnTimes = SYSTEM,
): () => number {
  const start = processes.statNow(process.pid)?.start;
  if (start === undefined) return uptimeSec;
  const apartSec = Number(start) / TICKS_PER_SEC + ownAgeSec() - uptimeSec();
  return Math.abs(apartSec) < SAME_WITHIN_SEC ? uptimeSec : () => uptimeSec() + apartSec;
}
