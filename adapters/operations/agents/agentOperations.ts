/** Agents: which run, and what each is doing. */
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import {
  agentSchema,
  agentsRequestSchema,
  agentsSchema,
  renameAgentSchema,
} from "../../../protocol/api/native/nativeAgents.ts";
import { emptyRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import { toAppError } from "../../../protocol/errors.ts";
import { stateOf } from "../../agents/running/agentState.ts";
import { nativeAgent, nativeAgents } from "./agentOutputs.ts";
import { EXAMPLE_AGENT } from "../examples.ts";
import { findServer } from "../findTargets.ts";
import { operation, type OperationContext, requirePart } from "../operation.ts";

export const agentOperations = {
  listAgents: operation({
    summary: "List the coding agents that run.",
    description: "On every server that the daemon serves, and on your own tmux.",
    scope: "daemon",
    input: agentsRequestSchema,
    output: agentsSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", "RESOURCE_LIMIT"],
    example: { input: { state: "asking" }, output: { agents: [EXAMPLE_AGENT] } },
    run: async (context, _target, { server, state, text }, { signal }) => {
      const agents = requireAgents(context);
      await openUsersServer(context, server);
      if (server !== undefined) findServer(context.servers, server);
      await agents.refresh();
      const meant = agents
        .agents()
        .filter(({ serverName }) => server === undefined || serverName === server)
        .filter((agent) => state === undefined || stateOf(agent).state === state);
      if (text === undefined) return { agents: nativeAgents(meant) };
      const screens = meant.map((owner) => ({ owner, server: owner.server, pane: owner.pane }));
      const { rows, unread } = await agents.screens.find(text, screens, signal);
      const onScreens = [...rows.values()];
      return {
        agents: nativeAgents([...rows.keys()]).map((agent, at) => ({ ...agent, onScreen: onScreens[at] })),
        ...(unread === 0 ? {} : { unread }),
      };
    },
  }),

  showAgent: operation({
    summary: "Show an agent.",
    description: "By its name or id; one that has ended, too, until the daemon forgets it.",
    scope: "agent",
    input: emptyRequestSchema,
    output: agentSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND"],
    example: { input: {}, output: EXAMPLE_AGENT },
    run: async (_context, { agent, agents }) => {
      await agents.refresh([agent]);
      return nativeAgent(agent);
    },
  }),

  renameAgent: operation({
    summary: "Rename an agent.",
    description: "Its name is kept as long as its process runs, and after a restart of the daemon.",
    scope: "agent",
    input: renameAgentSchema,
    output: agentSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", "ALREADY_EXISTS"],
    example: { input: { name: "api" }, output: EXAMPLE_AGENT },
    run: (_context, { agent, agents }, { name }, { by = "api" }) => {
      agents.rename(agent, name, by);
      return nativeAgent(agent);
    },
  }),
} as const;

/** @throws AppError INVALID_ARGUMENT */
export const requireAgents = ({ agents }: Pick<OperationContext, "agents">): AgentDirectory =>
  requirePart(agents, "keeps no list of agents; run the daemon of `tmuxwire serve`");

/**
 * The user's own tmux, unless another server is asked for; where there is none, or it may not be opened, nothing is.
 * @returns why it is not open
 */
export async function openUsersServer(
  { onDemand, agents }: Pick<OperationContext, "onDemand" | "agents">,
  server: string | undefined,
): Promise<string | undefined> {
  const opening = onDemand?.reach(server ?? onDemand.usersServer);
  if (opening === undefined) return undefined;
  try {
    await opening;
  } catch (error) {
    // Asked for by every list: where it is not there, nothing has changed.
    if (server !== undefined) throw error;
    return toAppError(error).message;
  }
  agents?.check();
  return undefined;
}
