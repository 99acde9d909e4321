/**
 * Ends a terminal's program and waits for its exit, which tmux reports: the pane's process group and its foreground process
 * group get SIGHUP, as when a terminal is closed, and SIGKILL if they do not exit.
 */
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import { END_WITHIN_MS } from "../freshellLimits.ts";

interface EndingProgram {
  /** The pane's own process. */
  readonly pid: number;
  readonly source: OutputSource;
  readonly processes: HostProcesses;
  readonly clock: Clock;
}

export async function endProgram(program: EndingProgram): Promise<void> {
  const { pid, source, processes } = program;
  if (source.exit !== undefined || pid <= 1) return;
  const foreground = processes.statNow(pid)?.foregroundGroup ?? 0;
  const groups = new Set([pid, ...(foreground > 1 ? [foreground] : [])]);
  for (const signal of ["SIGHUP", "SIGKILL"] as const) {
    for (const group of groups) processes.signal(-group, signal);
    if (await endsInTime(program)) break;
  }
  // For a process that exited on SIGHUP and left a member of its group behind.
  for (const group of groups) processes.signal(-group, "SIGKILL");
}

function endsInTime({ source, clock }: EndingProgram): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (hasEnded: boolean): void => {
      timer.cancel();
      leave();
      resolve(hasEnded);
    };
    const timer = clock.callAt(clock.nowMs() + END_WITHIN_MS, () => settle(false));
    const leave = source.subscribe({
      advanced: () => undefined,
      gap: () => undefined,
      exited: () => settle(true),
      closed: () => settle(true),
    });
    if (source.exit !== undefined) settle(true);
  });
}
