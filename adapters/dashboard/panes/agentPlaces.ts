/**
 * Which pane an agent is in, by its record, and whether that pane is one of the server that is there now: a pane's id means
 * something on one server only.
 */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { type Agent, openTask } from "../agents/agent.ts";
import { type AgentBook, isSameServer } from "../agents/agentBook.ts";
import { isFound } from "../store/records.ts";
import { isReachable } from "./agentProcess.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import { LISTED_PROBES_MS, MAX_UNLISTED_PANES } from "../dashboardLimits.ts";

type PanePlace = "ours" | "elsewhere" | "unknown";

/** Where an agent says that it is. */
export interface ReportedPane {
  readonly pane: PaneId | undefined;
  readonly tmuxSession: string | undefined;
  /** The process of its tmux server. */
  readonly tmuxPid: number | undefined;
}

export class AgentPlaces {
  readonly #server: TmuxServer;
  readonly #book: AgentBook;

  constructor(server: TmuxServer, book: AgentBook) {
    this.#server = server;
    this.#book = book;
  }

  /** Of the server that is there, or was last. */
  get identity(): string | undefined {
    return this.#server.status().identity;
  }

  /** The agent's pane, if it is one of this server; it may have gone. */
  paneHere({ record: { tmuxPaneId, paneServer } }: Agent): PaneId | undefined {
    return isSameServer(paneServer, this.identity) ? tmuxPaneId : undefined;
  }

  /** For typing: the pane when it is there, undefined when the agent has none that lives on this server. */
  livePane(agent: Agent): PaneId | undefined {
    const pane = this.paneHere(agent);
    const info = pane === undefined ? undefined : this.#server.findPane(pane);
    return info === undefined || info.exit !== undefined ? undefined : pane;
  }

  /** Whether a pane that a hook names is one of this server's. One that is not listed may be in a moment, or never. */
  placeOf(reported: ReportedPane): PanePlace {
    if (reported.pane === undefined) return "elsewhere";
    const pid = pidOf(this.#server);
    if (reported.tmuxPid !== undefined && pid !== undefined && pid !== reported.tmuxPid) return "elsewhere";
    const info = this.#server.findPane(reported.pane);
    if (info === undefined) return "unknown";
    const sessions = this.#server.sessions().filter((session) => session.windows.includes(info.window));
    const isThere =
      reported.tmuxSession === undefined || sessions.some((session) => session.name === reported.tmuxSession);
    return isThere ? "ours" : "elsewhere";
  }

  /** Its process is known and has its terminal now. */
  isReachable(agent: Agent): boolean {
    return isReachable(agent, this.#server.processes);
  }

  /**
   * An agent that another one has started inherits its pane, and reads nothing of what is typed there. One that is known by
   * its process alone, and is not at work, may be the agent itself.
   */
  isBehindAnother(agent: Agent, pane: PaneId): boolean {
    const holder = this.#book.inPane(pane, this.identity);
    if (holder === undefined || holder === agent || !this.isReachable(holder)) return false;
    return !isFound(holder.record) || openTask(holder) !== undefined;
  }

  /** Notes where the agent is, once those who were there have left. Returns whether that is another pane. */
  move(agent: Agent, pane: PaneId, tmuxSession: string | undefined, leave: (other: Agent) => void): boolean {
    const { record } = agent;
    const isSame = record.tmuxPaneId === pane && record.paneServer === this.identity;
    const session = tmuxSession ?? sessionOf(this.#server, pane) ?? record.tmuxSession;
    if (isSame && session === record.tmuxSession) return false;
    for (const other of this.#book.all()) {
      const isThere = other.record.tmuxPaneId === pane && isSameServer(other.record.paneServer, this.identity);
      if (other !== agent && isThere) leave(other);
    }
    // No process goes from one pane to another.
    const isOther = record.tmuxPaneId !== pane || !isSameServer(record.paneServer, this.identity);
    const process = isOther ? undefined : record.process;
    this.#book.update(agent, { tmuxPaneId: pane, paneServer: this.identity, tmuxSession: session, process });
    return !isSame;
  }
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
function sessionOf(server: TmuxServer, pane: PaneId): string | undefined {
  const window = server.findPane(pane)?.window;
  return window === undefined ? undefined : server.sessions().find(({ windows }) => windows.includes(window))?.name;
}
