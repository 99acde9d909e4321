/** Whether a process waits for something to happen. Where the host cannot tell, no process counts as idle. */
import type { HostProcesses } from "../host/hostProcesses.ts";

export const isWaiting = (processes: HostProcesses, pid: number | undefined): boolean =>
  pid !== undefined && processes.statNow(pid)?.state === "S";
