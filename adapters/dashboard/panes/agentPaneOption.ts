/**
 * Which agent is in a pane, noted on the pane itself (`@tmuxwire_agent`): it outlives the daemon, and its database. Anyone
 * with the tmux socket can write such a note, so one counts only with the agent's own session uuid in it.
 */
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../agents/agent.ts";
import type { AgentPlacesOptions } from "./agentPlaces.ts";

const OPTION = "agent";

type AgentPaneOptionParts = Pick<AgentPlacesOptions, "server" | "book" | "log">;

export class AgentPaneOption {
  readonly #options: AgentPaneOptionParts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: AgentPaneOptionParts) {
    this.#options = options;
  }

  /**
   * No request waits for it: it is needed only when the database is lost.
   * @param agent undefined: the pane has none any more
   */
  set(pane: PaneId, agent: Agent | undefined): void {
    const { server, log } = this.#options;
    const value = agent === undefined ? undefined : `${agent.record.id}:${agent.record.sessionUuid}`;
    const done: Promise<void> = server
      .setPaneUserOption(pane, OPTION, value)
      .catch((error: unknown) => {
        log.debug("dashboard.pane.unmarked", { pane, code: toAppError(error).code });
      })
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Resolves once tmux has all of them: closing the connection earlier would lose them. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  /** Gives agents back the panes that have their option, unless they have one already. */
  async adopt(adopt: (agent: Agent, pane: PaneId) => void): Promise<void> {
    const { server, book, log } = this.#options;
    try {
      for (const [pane, value] of await server.paneUserOptions(OPTION)) {
        const [, id, uuid] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(value) ?? [];
        const agent = book.active(Number(id));
        const isLost =
          agent !== undefined && agent.record.sessionUuid === uuid && agent.record.tmuxPaneId === undefined;
        if (isLost && server.findPane(pane) !== undefined) adopt(agent, pane);
      }
    } catch (error) {
      log.debug("dashboard.pane.unread", { code: toAppError(error).code });
    }
  }
}
