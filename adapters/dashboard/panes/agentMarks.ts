/**
 * Which agent is in a pane, noted on the pane itself (`@tmuxwire_agent`): it outlives the daemon, and its database. Anyone
 * with the tmux socket can write such a note, so one counts only with the agent's own session uuid in it.
 */
import type { Log } from "../../../daemon/ops/log.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../agents/agent.ts";
import type { AgentBook } from "../agents/agentBook.ts";

const MARK = "agent";

interface MarkOptions {
  readonly server: TmuxServer;
  readonly book: AgentBook;
  readonly log: Log;
}

/** Behind everything else: nobody waits for it, and without it nothing but a lost database is lost. */
export function markPane({ server, log }: MarkOptions, pane: PaneId, agent: Agent | undefined): void {
  const value = agent === undefined ? undefined : `${agent.record.id}:${agent.record.sessionUuid}`;
  server.setPaneMark(pane, MARK, value).catch((error: unknown) => {
    log.debug("dashboard.pane.unmarked", { pane, code: toAppError(error).code });
  });
}

/** Gives agents back the panes that carry their mark, unless they have one already. */
export async function adoptMarkedPanes(
  { server, book, log }: MarkOptions,
  adopt: (agent: Agent, pane: PaneId) => void,
): Promise<void> {
  try {
    for (const [pane, value] of await server.paneMarks(MARK)) {
      const [, id, uuid] = /^(\d{1,15}):([0-9a-f-]{36})$/.exec(value) ?? [];
      const agent = book.active(Number(id));
      const isLost = agent !== undefined && agent.record.sessionUuid === uuid && agent.record.tmuxPaneId === undefined;
      if (isLost && server.findPane(pane) !== undefined) adopt(agent, pane);
    }
  } catch (error) {
    log.debug("dashboard.pane.unread", { code: toAppError(error).code });
  }
}
