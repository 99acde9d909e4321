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
import { placeOf, type PanePlace, type ReportedPane, sessionOf } from "./panePlace.ts";

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

  placeOf(reported: ReportedPane): PanePlace {
    return placeOf(this.#server, reported);
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
