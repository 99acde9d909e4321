/**
 * Ends a terminal's program and waits for its end, which tmux tells: the process group of the pane and the one that is in
 * its foreground are hung up, as when a terminal is closed, and killed when they do not go.
 */
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { OutputSource } from "../../../daemon/tmux/outputSource.ts";
import { END_WITHIN_MS } from "../freshellLimits.ts";

export interface EndingProgram {
  /** Of the pane's own process. */
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
  // One that took the hangup and left a member of its group behind.
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
