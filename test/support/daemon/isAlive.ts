import { linuxHost } from "../../../daemon/host/linux/linuxHost.ts";
import { hasEnded } from "../../../daemon/host/procfs.ts";

/** One that has ended may wait for its parent to ask how: an orphan's, in a container, takes its time. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = linuxHost().processes.statNow(pid);
  // Only Linux says it.
  return process.platform !== "linux" || (stat !== undefined && !hasEnded(stat));
}
