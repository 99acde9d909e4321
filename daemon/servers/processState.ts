/** Whether a process waits for something to happen. Where the host does not tell, nobody is taken for idle. */
import type { HostProcesses } from "../host/hostProcesses.ts";

export const isWaiting = (processes: HostProcesses, pid: number | undefined): boolean =>
  pid !== undefined && processes.statNow(pid)?.state === "S";
