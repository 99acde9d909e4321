/** Telling agents something, waiting for them, answering, interrupting and ending them. */
import type { AgentMessages } from "../../agents/messages/agentMessages.ts";
import { requireRunning } from "../../agents/messages/agentMessages.ts";
import { endAgent } from "../../agents/messages/endAgent.ts";
import { addresseeOf } from "../../agents/messages/messageQueue.ts";
import type { Message } from "../../agents/messages/messageStore.ts";
import { stateOf } from "../../agents/running/agentState.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import {
  answerAgentRequestSchema,
  endAgentRequestSchema,
  endAgentResponseSchema,
  messageSchema,
  messagesRequestSchema,
  messagesSchema,
  NATIVE_DEFAULT_AGENT_WAIT_MS,
  NATIVE_DEFAULT_END_MS,
  NATIVE_DEFAULT_MESSAGE_TTL_SEC,
  NATIVE_DEFAULT_STALLED_SEC,
  type NativeMessage,
  type NativeTellRequest,
  type NativeTold,
  type NativeWaitAgentRequest,
  type NativeWaitedAgent,
  tellRequestSchema,
  tellResponseSchema,
  waitAgentRequestSchema,
  waitAgentResponseSchema,
} from "../../../protocol/api/native/nativeAgentMessages.ts";
import type { Delivery } from "../../../daemon/delivery/delivery.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { deliveryResponseSchema } from "../../../protocol/api/native/nativeDelivery.ts";
import { emptyRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { requireAgents } from "./agentOperations.ts";
import { nativeAgent } from "./agentOutputs.ts";
import { DELIVERING, nativeDelivery, PRESSING, requireDelivery } from "../panes/deliveryOperations.ts";
import { EXAMPLE_AGENT, EXAMPLE_DELIVERY, EXAMPLE_MESSAGE } from "../examples.ts";
import { type Call, JUST_DONE, operation, type OperationContext, requirePart } from "../operation.ts";

const WAITING = ["TIMEOUT", "WRONG_STATE", "CONNECTION_LOST", "SHUTTING_DOWN", "NOT_FOUND"] as const;

export const agentMessageOperations = {
  tell: operation({
    summary: "Tell an agent something.",
    description:
      "The message waits on disk until the agent takes a prompt and nobody types, goes to that process and to no other, in " +
      "order and once. With `wait`, responds when it was taken or when the turn that it began is over.",
    scope: "agent",
    input: tellRequestSchema,
    output: tellResponseSchema,
    errors: ["INVALID_ARGUMENT", "ALREADY_EXISTS", "RESOURCE_LIMIT", ...WAITING],
    long: true,
    idempotent: true,
    example: { input: { text: "now run the tests" }, output: { ...EXAMPLE_MESSAGE, question: null } },
    run: (context, { agent }, input, call) => tellAgent(requireMessages(context), agent, input, call),
  }),

  listMessages: operation({
    summary: "List the messages to agents.",
    description: "Those that wait, and those that ended within the last day.",
    scope: "daemon",
    input: messagesRequestSchema,
    output: messagesSchema,
    errors: ["NOT_FOUND"],
    example: { input: {}, output: { messages: [EXAMPLE_MESSAGE] } },
    run: (context, _target, { agent }) => {
      const messages = requireMessages(context);
      const of = agent === undefined ? undefined : requireAgents(context).find(agent);
      return { messages: messages.list(of).map(nativeMessage) };
    },
  }),

  agentMessages: operation({
    summary: "List the messages to an agent.",
    description: "Those that wait, and those that ended within the last day.",
    scope: "agent",
    input: emptyRequestSchema,
    output: messagesSchema,
    errors: ["NOT_FOUND"],
    example: { input: {}, output: { messages: [EXAMPLE_MESSAGE] } },
    run: (context, { agent }) => ({ messages: requireMessages(context).list(agent).map(nativeMessage) }),
  }),

  cancelMessage: operation({
    summary: "Cancel a message that waits.",
    description: "Refused once it is being typed.",
    scope: "message",
    input: emptyRequestSchema,
    output: messageSchema,
    errors: ["NOT_FOUND", "WRONG_STATE"],
    example: {
      input: {},
      output: { ...EXAMPLE_MESSAGE, outcome: "cancelled", reason: "it was cancelled" },
    },
    run: (context, { message }) => nativeMessage(requireMessages(context).cancel(message)),
  }),

  waitAgent: operation({
    summary: "Wait for an agent.",
    description:
      "Until it is ready, asks, is done with what it was told, has ended, or is stalled: the first of those given.",
    scope: "agent",
    input: waitAgentRequestSchema,
    output: waitAgentResponseSchema,
    errors: ["INVALID_ARGUMENT", ...WAITING],
    long: true,
    example: {
      input: { for: ["done", "asking"], timeoutMs: 600_000 },
      output: { reached: "done", agent: EXAMPLE_AGENT, lastWords: "All tests pass.", elapsedMs: 8_123 },
    },
    run: (context, { agent }, input, { signal }) =>
      waitForAgent({ messages: requireMessages(context), clock: context.clock }, agent, input, signal),
  }),

  answerAgent: operation({
    summary: "Answer the question that an agent has open.",
    description: "As `choose`, for the agent's own process alone.",
    scope: "agent",
    input: answerAgentRequestSchema,
    output: deliveryResponseSchema,
    errors: DELIVERING,
    long: true,
    idempotent: true,
    example: {
      input: { answer: { kind: "option", index: 0 } },
      output: { ...EXAMPLE_DELIVERY, confirmedBy: "screen" },
    },
    run: async (context, { agent }, input, { idempotencyKey, signal, by = "api" }) => {
      requireRunning(agent);
      const { server, pane } = agent;
      const addressee = addresseeOf(agent);
      const request = { ...input, server, pane, addressee, idempotencyKey, signal, by };
      return nativeDelivery(await requireDelivery(context).choose(request));
    },
  }),

  interruptAgent: operation({
    summary: "Interrupt an agent's turn.",
    description: "With its own keys, for its own process alone. Responds when the turn has ended.",
    scope: "agent",
    ...JUST_DONE,
    errors: PRESSING,
    run: async (context, { agent }, _input, { by = "api" }) => {
      await interruptTurn(requireDelivery(context), agent, by);
      return { ok: true } as const;
    },
  }),

  endAgent: operation({
    summary: "End an agent.",
    description:
      "With its own words, unless something would be lost: its turn, a question, text in its box, messages that wait. With " +
      "`force` whatever would be lost, and with signals if it does not end by itself. Its pane and its shell stay.",
    scope: "agent",
    input: endAgentRequestSchema,
    output: endAgentResponseSchema,
    errors: DELIVERING,
    long: true,
    example: { input: {}, output: { endedBy: "itself", cancelled: 0, elapsedMs: 912 } },
    run: async (
      context,
      { agent, agents },
      { force = false, timeoutMs = NATIVE_DEFAULT_END_MS },
      { signal, by = "api" },
    ) => {
      const over = context.timeline?.ending(agent, by);
      try {
        return await endAgent(
          { agents, messages: requireMessages(context), delivery: requireDelivery(context), clock: context.clock },
          agent,
          { force, timeoutMs, signal },
        );
      } finally {
        over?.();
      }
    },
  }),
} as const;

/** @throws AppError TIMEOUT, with what became of the message so far; and what telling throws */
export async function tellAgent(
  messages: AgentMessages,
  agent: RunningAgent,
  {
    text,
    when = "idle",
    ttlSec = NATIVE_DEFAULT_MESSAGE_TTL_SEC,
    wait = "none",
    orAsking = false,
    timeoutMs = NATIVE_DEFAULT_AGENT_WAIT_MS,
  }: NativeTellRequest,
  { idempotencyKey, signal }: Pick<Call, "idempotencyKey" | "signal">,
): Promise<NativeTold> {
  const told = messages.tell(agent, { text, when, ttlSec }, idempotencyKey);
  // One for now is over within seconds, and its caller wants to know.
  const until = wait === "none" && when === "now" ? "taken" : wait;
  if (until === "none") return nativeTold(told, agent);
  try {
    return nativeTold(await messages.settled(told, until, agent, { orAsking, timeoutMs, signal }), agent);
  } catch (error) {
    throw withMessage(error, nativeTold(messages.find(told.id), agent));
  }
}

/** @throws AppError TIMEOUT, with what the agent does then; WRONG_STATE */
export async function waitForAgent(
  { messages, clock }: { readonly messages: AgentMessages; readonly clock: Clock },
  agent: RunningAgent,
  {
    for: wanted,
    stalledSec = NATIVE_DEFAULT_STALLED_SEC,
    timeoutMs = NATIVE_DEFAULT_AGENT_WAIT_MS,
  }: NativeWaitAgentRequest,
  signal: AbortSignal | undefined,
): Promise<NativeWaitedAgent> {
  const startedMs = clock.nowMs();
  try {
    const reached = await messages.reached(agent, { for: wanted, stalledSec, timeoutMs, signal });
    const lastWords = (await messages.lastWords(agent)) ?? null;
    return { reached, agent: nativeAgent(agent), lastWords, elapsedMs: Math.round(clock.nowMs() - startedMs) };
  } catch (error) {
    const { state, question } = nativeAgent(agent);
    throw withDetails(error, { state, question });
  }
}

/** By its own keys. @throws AppError WRONG_STATE, and what pressing throws */
export async function interruptTurn(
  delivery: Pick<Delivery, "interrupt">,
  agent: RunningAgent,
  by: string,
): Promise<void> {
  requireRunning(agent);
  await delivery.interrupt(agent.server, agent.pane, addresseeOf(agent), by);
}

/** @throws AppError INVALID_ARGUMENT */
const requireMessages = ({ messages }: OperationContext): AgentMessages =>
  requirePart(messages, "keeps no messages; run the daemon of `tmuxwire serve`");

export function nativeMessage(message: Message): NativeMessage {
  return {
    id: message.id,
    agent: message.agent,
    name: message.agentName,
    text: message.text,
    when: message.when,
    outcome: message.outcome,
    reason: message.reason ?? null,
    confirmedBy: message.confirmedBy ?? null,
    createdUnixMs: message.createdUnixMs,
    expiresUnixMs: message.expiresUnixMs,
    deliveredUnixMs: message.deliveredUnixMs ?? null,
    doneUnixMs: message.doneUnixMs ?? null,
    lastWords: message.lastWords ?? null,
  };
}

const nativeTold = (message: Message, agent: RunningAgent) => ({
  ...nativeMessage(message),
  question: stateOf(agent).state === "asking" ? nativeAgent(agent).question : null,
});

/** A wait that times out says what became of the message so far. */
const withMessage = (error: unknown, { id, outcome, reason, question }: ReturnType<typeof nativeTold>): unknown =>
  withDetails(error, { message: id, outcome, reason, question });

function withDetails(error: unknown, details: Readonly<Record<string, unknown>>): unknown {
  const known = toAppError(error);
  if (known.code !== "TIMEOUT") return error;
  return new AppError(known.code, known.message, { details: { ...known.details, ...details }, cause: error });
}
