/** Whether a process is waiting for an event. If the host cannot tell, it does not count as idle. */
import type { HostProcesses } from "../host/hostProcesses.ts";

export const isWaiting = (processes: HostProcesses, pid: number | undefined): boolean =>
  pid !== undefined && processes.statNow(pid)?.state === "S";
