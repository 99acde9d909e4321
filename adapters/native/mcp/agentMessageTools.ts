/** The MCP tools for agents: listing them, telling them something, waiting, answering, interrupting, ending. */
import * as v from "valibot";
import {
  answerAgentRequestSchema,
  endAgentRequestSchema,
  type NativeEndedAgent,
  type NativeTold,
  type NativeWaitedAgent,
  tellRequestSchema,
  waitAgentRequestSchema,
} from "../../../protocol/api/native/nativeAgentMessages.ts";
import type { NativeDelivery } from "../../../protocol/api/native/nativeDelivery.ts";
import { type NativeAgent, agentsRequestSchema } from "../../../protocol/api/native/nativeAgents.ts";
import { described, filled, optional } from "../../../protocol/api/described.ts";
import { requireAgents } from "../../operations/agents/agentOperations.ts";
import { framed } from "./foreignText.ts";
import { mcpTool, type ToolCall } from "./mcpTool.ts";
import { ANSWER_WORDS } from "./typingTools.ts";

const AGENT = { agent: described(filled(128), "The agent's name or id.") };
const key = { idempotencyKey: optional(filled(255), "Done once per key.") };

/** The agent's id, if the tier may use its pane. @throws AppError FORBIDDEN, NOT_FOUND */
async function allowed(call: ToolCall, name: string): Promise<{ readonly agent: string }> {
  if (call.context.remote?.finds({ agent: name }) === true) {
    const { server } = await call.perform<NativeAgent>("showAgent", { agent: name });
    call.tier.requireAllPanes(call.tier.serverName(server));
    return { agent: name };
  }
  const agent = requireAgents(call.context).find(name);
  call.tier.serverName(agent.serverName);
  // The pane of one that has ended may be gone: then only its id tells.
  const pane = agent.server.findPane(agent.pane) ?? { id: agent.pane, window: "" };
  call.tier.requirePane(agent.server, pane);
  return { agent: agent.id };
}

const words = (text: string | null): string => (text === null ? "" : `\n${framed(text)}`);

export const tellTool = mcpTool({
  name: "tell",
  title: "Tell an agent something",
  description:
    "Give a coding agent a message. It waits until the agent takes a prompt, goes to that agent alone, and is typed once. With " +
    "`wait: done`, returns the agent's last words once its turn is over.",
  effect: "works",
  input: v.strictObject({ ...AGENT, ...tellRequestSchema.entries, ...key }),
  words: {
    text: "The message.",
    when: "idle (default): when it takes a prompt; now: at once, or refused.",
    ttlSec: "Give up when not typed by then; default 86400.",
    wait: "Until then; default none.",
    orAsking: "Or until it asks.",
    timeoutMs: "Default 600000.",
  },
  run: async (call, { agent, idempotencyKey, ...input }) => {
    const told = await call.perform<NativeTold>("tell", await allowed(call, agent), input, { idempotencyKey });
    const { id, outcome, reason, lastWords } = told;
    return {
      text: `Message ${id}: ${outcome}${reason === null ? "" : ` (${reason})`}.${words(lastWords)}`,
      structured: { ...told, untrusted: ["text", "lastWords", "question"] },
    };
  },
});

export const waitAgentTool = mcpTool({
  name: "wait_agent",
  title: "Wait for an agent",
  description:
    "Wait until a coding agent is ready, asks, is done with what it was told, has ended, or is stalled: the first of those given.",
  effect: "reads",
  input: v.strictObject({ ...AGENT, ...waitAgentRequestSchema.entries }),
  words: {
    for: "Any of these. stalled: busy, no output for stalledSec.",
    stalledSec: "Default 120.",
    timeoutMs: "Default 600000.",
  },
  run: async (call, { agent, ...input }) => {
    const waited = await call.perform<NativeWaitedAgent>("waitAgent", await allowed(call, agent), input);
    const { reached, lastWords } = waited;
    return {
      text: `Reached: ${reached}.${words(waited.agent.question?.text ?? lastWords)}`,
      structured: { ...waited, untrusted: ["lastWords", "agent.lastMessage", "agent.question", "agent.task"] },
    };
  },
});

export const answerAgentTool = mcpTool({
  name: "answer_agent",
  title: "Answer an agent's question",
  description: "Answer the question that a coding agent has open, as `choose` does for a pane. Give `dialogId`.",
  effect: "works",
  input: v.strictObject({ ...AGENT, ...answerAgentRequestSchema.entries, ...key }),
  // Said at `choose`.
  words: { ...ANSWER_WORDS, option: { type: "integer" }, options: { type: "array" }, other: { type: "string" } },
  run: async (call, { agent, idempotencyKey, ...input }) => {
    const names = await allowed(call, agent);
    const delivery = await call.perform<NativeDelivery>("answerAgent", names, input, { idempotencyKey });
    return { text: `Outcome: ${delivery.outcome}.`, structured: delivery };
  },
});

export const interruptAgentTool = mcpTool({
  name: "interrupt_agent",
  title: "Interrupt an agent",
  description: "Interrupt a coding agent's turn with its own keys. Returns when the turn has ended.",
  effect: "destroys",
  input: v.strictObject(AGENT),
  run: async (call, { agent }) => {
    const structured = await call.perform<object>("interruptAgent", await allowed(call, agent), {});
    return { text: `Interrupted ${agent}.`, structured };
  },
});

export const endAgentTool = mcpTool({
  name: "end_agent",
  title: "End an agent",
  description:
    "End a coding agent with its own words; refused, with what would be lost, unless `force`. Its pane and its shell stay.",
  effect: "destroys",
  isIdempotent: true,
  input: v.strictObject({ ...AGENT, ...endAgentRequestSchema.entries }),
  words: { force: "Whatever would be lost, and with signals if need be.", timeoutMs: "Default 10000." },
  run: async (call, { agent, ...input }) => {
    const ended = await call.perform<NativeEndedAgent>("endAgent", await allowed(call, agent), input);
    return { text: `Ended ${agent} (${ended.endedBy}).`, structured: ended };
  },
});

export const listAgentsTool = mcpTool({
  name: "list_agents",
  title: "List agents",
  description:
    "List the coding agents that run in panes: name, state and why, task, open question, directory, branch, pane. An agent's " +
    "name can stand wherever a pane is named. Cheap.",
  effect: "reads",
  input: agentsRequestSchema,
  run: async (call, input) => {
    const named = input.server === undefined ? input : { ...input, server: call.tier.serverName(input.server) };
    const { agents } = await call.perform<{ agents: readonly NativeAgent[] }>("listAgents", {}, named);
    const seen = agents.filter((agent) => isSeen(call, agent));
    const untrusted = ["task", "lastMessage", "question", "cwd", "branch", "session", "onScreen"];
    const text = seen.length === 0 ? "No agents run." : framed(seen.map(agentText).join("\n"));
    return { text, structured: { agents: seen, untrusted } };
  },
});

function isSeen({ context, tier }: ToolCall, { id, server }: NativeAgent): boolean {
  if (!context.servers.has(server)) return tier.seesServer(server) && tier.seesAllPanes;
  const agent = requireAgents(context).running(id);
  const pane = agent?.server.findPane(agent.pane);
  return agent !== undefined && pane !== undefined && tier.seesServer(server) && tier.seesPane(agent.server, pane);
}

const agentText = ({ name, agent, state, why, task, question, cwd, server, pane, onScreen }: NativeAgent): string =>
  [
    `${name} (${agent}): ${state}, ${why}`,
    `pane ${pane} on ${server}`,
    ...(cwd === null ? [] : [`in ${JSON.stringify(cwd)}`]),
    ...(task === null ? [] : [`task ${JSON.stringify(task.text)}`]),
    ...(question === null ? [] : [`asks ${JSON.stringify(question.text)}`]),
    ...(onScreen === undefined ? [] : [`on its screen ${JSON.stringify(onScreen)}`]),
  ].join(", ");
