/**
 * Whether a process waits for an event. A tmux with utempter also sleeps while a helper notes a pane's begin or end in the
 * list of logins, for as long as that takes on a busy machine (docs/tmuxFacts.md 51): it is not idle then. If the host cannot
 * tell, it does not count as idle.
 */
import type { HostProcesses } from "../host/hostProcesses.ts";

export const isWaiting = (processes: HostProcesses, pid: number | undefined): boolean =>
  pid !== undefined && processes.statNow(pid)?.state === "S" && processes.waitsForChildNow(pid) !== true;
