/**
 * Which agent is in a pane, noted on the pane itself (`@tmuxwire_agent`) for whoever looks at tmux: it outlives the daemon.
 * Anyone with the tmux socket can write such a note, so none is read here.
 */
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../agents/agent.ts";
import type { AgentPlacesOptions } from "./agentPlaces.ts";

const OPTION = "agent";

type AgentPaneOptionParts = Pick<AgentPlacesOptions, "server" | "log">;

export class AgentPaneOption {
  readonly #options: AgentPaneOptionParts;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: AgentPaneOptionParts) {
    this.#options = options;
  }

  /**
   * No request waits for it.
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
}
