/** Whether a pane that a hook names is one of the watched server's. */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { LISTED_PROBES_MS, MAX_UNLISTED_PANES } from "../dashboardLimits.ts";

export type PanePlace = "ours" | "elsewhere" | "unknown";

/** Where an agent says that it is. */
export interface ReportedPane {
  readonly pane: PaneId | undefined;
  readonly tmuxSession: string | undefined;
  /** The process of its tmux server. */
  readonly tmuxPid: number | undefined;
}

/** One that is not listed may be listed in a moment, or never. */
export function placeOf(server: TmuxServer, reported: ReportedPane): PanePlace {
  if (reported.pane === undefined) return "elsewhere";
  const pid = pidOf(server);
  if (reported.tmuxPid !== undefined && pid !== undefined && pid !== reported.tmuxPid) return "elsewhere";
  const info = server.findPane(reported.pane);
  if (info === undefined) return "unknown";
  const sessions = server.sessions().filter((session) => session.windows.includes(info.window));
  const isThere =
    reported.tmuxSession === undefined || sessions.some((session) => session.name === reported.tmuxSession);
  return isThere ? "ours" : "elsewhere";
}

const pidOf = (server: TmuxServer): number | undefined => {
  const pid = /^\d+/.exec(server.status().identity ?? "")?.[0];
  return pid === undefined ? undefined : Number(pid);
};

/**
 * A program may name its pane before tmux has listed it. The listing is probed in memory a few times, and only for a hook
 * that names our server's process; a pane that was never listed is not waited for again.
 */
export class PaneListing {
  readonly #server: TmuxServer;
  readonly #clock: Clock;
  readonly #neverListed = new Set<PaneId>();

  constructor(server: TmuxServer, clock: Clock) {
    this.#server = server;
    this.#clock = clock;
  }

  /** Whether it is listed now and was not before. */
  async comes(reported: ReportedPane): Promise<boolean> {
    const { pane, tmuxPid } = reported;
    if (pane === undefined || tmuxPid === undefined || tmuxPid !== pidOf(this.#server)) return false;
    if (this.#server.findPane(pane) !== undefined || this.#neverListed.has(pane)) return false;
    for (const waitMs of LISTED_PROBES_MS) {
      await sleep(this.#clock, waitMs);
      if (this.#server.findPane(pane) !== undefined) return true;
    }
    if (this.#neverListed.size >= MAX_UNLISTED_PANES) this.#neverListed.clear();
    this.#neverListed.add(pane);
    return false;
  }
}

/** The first of them, when the pane's window is in several. */
export function sessionOf(server: TmuxServer, pane: PaneId): string | undefined {
  const window = server.findPane(pane)?.window;
  return window === undefined ? undefined : server.sessions().find(({ windows }) => windows.includes(window))?.name;
}
