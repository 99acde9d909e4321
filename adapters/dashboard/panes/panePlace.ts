/** Where on the watched server a pane is that somebody names, if it is there at all. */
import type { TmuxServer } from "../../../daemon/server/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";

export type PanePlace = "ours" | "elsewhere" | "unknown";

/** Where an agent says that it is. */
export interface ToldPane {
  readonly pane: PaneId | undefined;
  readonly tmuxSession: string | undefined;
  /** The process of its tmux server. */
  readonly tmuxPid: number | undefined;
}

/** One that is not listed may be listed in a moment, or never. */
export function placeOf(server: TmuxServer, told: ToldPane): PanePlace {
  if (told.pane === undefined) return "elsewhere";
  const pid = /^\d+/.exec(server.status().identity ?? "")?.[0];
  if (told.tmuxPid !== undefined && pid !== undefined && Number(pid) !== told.tmuxPid) return "elsewhere";
  const info = server.findPane(told.pane);
  if (info === undefined) return "unknown";
  const sessions = server.sessions().filter((session) => session.windows.includes(info.window));
  const isThere = told.tmuxSession === undefined || sessions.some((session) => session.name === told.tmuxSession);
  return isThere ? "ours" : "elsewhere";
}

/** The first of them, when the pane's window is in several. */
export function sessionOf(server: TmuxServer, pane: PaneId): string | undefined {
  const window = server.findPane(pane)?.window;
  return window === undefined ? undefined : server.sessions().find(({ windows }) => windows.includes(window))?.name;
}
