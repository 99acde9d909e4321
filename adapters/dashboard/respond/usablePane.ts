/** An agent's pane if it can be used now, or the reason why it cannot. */
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../agents/agent.ts";
import { isSameServer } from "../agents/agentBook.ts";
import type { AgentParts } from "../panes/paneLinks.ts";
import * as failures from "./failures.ts";

/** @param pane the one that the agent reported */
export async function usablePane(
  { server, panes }: AgentParts,
  agent: Agent,
  pane: PaneId,
): Promise<PaneId | failures.Failure> {
  const live = panes.places.livePane(agent);
  if (live !== undefined) return live;
  await panes.presence.settled();
  const back = panes.places.livePane(agent);
  if (back !== undefined) return back;
  if (!isSameServer(agent.record.paneServer, server.status().identity)) return failures.paneOfOtherServer(pane);
  // Asked only for its refusal: whether tmux is missing, not running, busy, or without this pane.
  const error = await server.describePane(pane).then(() => undefined, toAppError);
  const isConnected = error === undefined || error.code === "NOT_FOUND";
  return isConnected ? failures.paneGone(pane) : failures.connectionFailure(error);
}
