/** The responses of `POST /api/respond/:id`, as they go out and as they are kept, and whether an agent's pane can be used. */
import type { Context } from "hono";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../agents/agent.ts";
import { isSameServer } from "../agents/agentBook.ts";
import type { AgentParts } from "../panes/paneLinks.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import { connectionFailure, type Failure, failure, paneGone, paneOfOtherServer } from "./failures.ts";

export interface RespondResponse {
  readonly status: 200 | Failure["status"];
  /** Without its members that are undefined. */
  readonly body: Readonly<Record<string, string | number | boolean | undefined>>;
  /** The same request again gets this one, and types nothing. */
  readonly isKept: boolean;
}

/** @param latencyMs undefined: nothing was tried */
export const failureResponse = (
  { status, errorType, message, reason, box, wasWritten, isUncertain }: Failure,
  latencyMs?: number,
): RespondResponse => ({
  status,
  body: {
    status: "error",
    error_type: errorType,
    message,
    reason,
    box,
    text_written: wasWritten === true ? true : undefined,
    latency_ms: latencyMs,
  },
  isKept: isUncertain,
});

export const refusalResponse = (...refusal: Parameters<typeof failure>): RespondResponse =>
  failureResponse(failure(...refusal));

export const agentNotFound = (agentId: number): RespondResponse =>
  refusalResponse(404, "agent_not_found", `Agent with ID ${agentId} not found.`);

export const respondWith = (c: Context<GuardEnv>, { status, body }: RespondResponse): Response => c.json(body, status);

export const noPane = (what: string): RespondResponse =>
  refusalResponse(400, "no_pane_id", `Agent has no tmux pane ID — cannot ${what}.`);

/** The agent's pane if it can be used now, or the reason why it cannot. @param pane the one that the agent reported */
export async function usablePane(
  { server, panes }: AgentParts,
  agent: Agent,
  pane: PaneId,
): Promise<PaneId | RespondResponse> {
  const live = panes.places.livePane(agent);
  if (live !== undefined) return live;
  await panes.presence.settled();
  const back = panes.places.livePane(agent);
  if (back !== undefined) return back;
  if (!isSameServer(agent.record.paneServer, server.status().identity)) return failureResponse(paneOfOtherServer(pane));
  // Asked only for its refusal: whether tmux is missing, not running, busy, or without this pane.
  const error = await server.describePane(pane).then(() => undefined, toAppError);
  const isConnected = error === undefined || error.code === "NOT_FOUND";
  return failureResponse(isConnected ? paneGone(pane) : connectionFailure(error));
}
