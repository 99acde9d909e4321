/** The MCP tools for agents. */
import { agentsRequestSchema, type NativeAgent } from "../../../protocol/api/native/nativeAgents.ts";
import { requireAgents } from "../../operations/agents/agentOperations.ts";
import { mcpTool, type ToolCall } from "./mcpTool.ts";

export const listAgentsTool = mcpTool({
  name: "list_agents",
  title: "List agents",
  description:
    "List the coding agents that run in panes: name, state and why, task, open question, directory, branch, pane. An agent's " +
    "name can stand wherever a pane is named. Cheap.",
  effect: "reads",
  isIdempotent: true,
  isOpenWorld: false,
  input: agentsRequestSchema,
  run: async (call, input) => {
    const named = input.server === undefined ? input : { ...input, server: call.tier.serverName(input.server) };
    const { agents } = await call.perform<{ agents: readonly NativeAgent[] }>("listAgents", {}, named);
    const seen = agents.filter((agent) => isSeen(call, agent));
    const untrusted = ["task", "lastMessage", "question", "cwd", "branch", "session"];
    return { text: seen.map(agentText).join("\n") || "No agents run.", structured: { agents: seen, untrusted } };
  },
});

function isSeen({ context, tier }: ToolCall, { id, server }: NativeAgent): boolean {
  if (!context.servers.has(server)) return tier.seesServer(server) && tier.seesAllPanes;
  const agent = requireAgents(context).running(id);
  const pane = agent?.server.findPane(agent.pane);
  return agent !== undefined && pane !== undefined && tier.seesServer(server) && tier.seesPane(agent.server, pane);
}

const agentText = ({ name, agent, state, why, task, question, cwd, server, pane }: NativeAgent): string =>
  [
    `${name} (${agent}): ${state}, ${why}`,
    `pane ${pane} on ${server}`,
    ...(cwd === null ? [] : [`in ${JSON.stringify(cwd)}`]),
    ...(task === null ? [] : [`task ${JSON.stringify(task.text)}`]),
    ...(question === null ? [] : [`asks ${JSON.stringify(question.text)}`]),
  ].join(", ");
