/** Whether and how a worker's session has ended, for lists and for the response to a start. */
import { shellStatusOf } from "../../daemon/tmux/outputSource.ts";
import type { TeamPlace } from "./teamServers.ts";

export interface SessionEnd {
  /** True if every program in it has ended. */
  readonly dead: boolean;
  /** The exit status of its active pane, as a shell reports it; null while it runs, or if it is unknown. */
  readonly exitStatus: number | null;
}

export function sessionEnd({ server, session }: Pick<TeamPlace, "server" | "session">): SessionEnd {
  const windows = server.windows().filter((window) => session.windows.includes(window.id));
  const panes = windows.flatMap((window) => window.panes.flatMap((pane) => server.findPane(pane) ?? []));
  return {
    dead: panes.length > 0 && panes.every((pane) => pane.exit !== undefined),
    exitStatus: shellStatusOf(panes.find((pane) => pane.id === session.activePane)?.exit) ?? null,
  };
}
