/**
 * The clock of processes' start times, in seconds since the machine's boot. In a container the uptime may be the container's
 * own (lxcfs) while start times count from the machine's boot, so the difference is measured once, with this process. Both
 * include time in which the machine sleeps and this process's own clock does not, so it is measured at the start.
 */
import { uptime } from "node:os";
import process from "node:process";
import type { HostProcesses } from "./hostProcesses.ts";

/** Ticks of a process's start in a second: the kernel's USER_HZ, the same on every Linux. */
export const TICKS_PER_SEC = 100;
/** Smaller differences are the time that a process takes to start. */
const SAME_WITHIN_SEC = 5;

interface OwnTimes {
  readonly uptimeSec: () => number;
  /** How long this process has been running. */
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
