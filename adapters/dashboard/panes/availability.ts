/**
 * Whether an agent can be answered: its pane is there (`exists`), an agent's program has its foreground (`command`), or
 * runs anywhere below it (`process_tree`). Where the system does not report processes, the foreground counts.
 */
import { paneRunsProgram } from "../../../daemon/panes/paneProcesses.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { DashboardConfig } from "../dashboardConfig.ts";

export interface AvailabilityOptions {
  readonly server: TmuxServer;
  readonly level: DashboardConfig["availability"];
  /** Names of agents' programs. */
  readonly programs: ReadonlySet<string>;
}

/** What it returns: @throws AppError NOT_FOUND, CONNECTION_LOST */
export function measureAvailability({ server, level, programs }: AvailabilityOptions) {
  const runsProgram = (pid: number) => paneRunsProgram(pid, programs, server.processes);
  return async (pane: PaneId): Promise<boolean> => {
    const info = server.findPane(pane);
    if (info === undefined || info.exit !== undefined) return false;
    if (level === "exists") return true;
    if (level === "process_tree") {
      const runs = await runsProgram(info.pid);
      if (runs === true) return true;
      // tmux does not report that a pane was respawned.
      const { pid } = await server.foreground(pane, { atNoCost: true });
      const isOther = pid !== undefined && pid !== info.pid;
      const found = isOther ? await runsProgram(pid) : runs;
      if (found !== undefined) return found;
    }
    const { command } = await server.describePane(pane);
    return programs.has(command);
  };
}
