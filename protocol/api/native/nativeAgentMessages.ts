/**
 * Messages to agents, and waiting for, answering, interrupting and ending them (docs/contracts/native.md, "Messages").
 * Texts, last words and questions are foreign text.
 */
import * as v from "valibot";
import { count, described, filled, named, optional, orNull, whole } from "../described.ts";
import { unreachable } from "./nativeHosts.ts";
import { chooseRequestSchema } from "./nativeDelivery.ts";
import { agentSchema } from "./nativeAgents.ts";
import { dialogSchema } from "./nativeReadiness.ts";

/** Bounds of the contract. */
export const NATIVE_MAX_MESSAGE_TTL_SEC = 2_592_000;
export const NATIVE_DEFAULT_MESSAGE_TTL_SEC = 86_400;
export const NATIVE_MAX_AGENT_WAIT_MS = 86_400_000;
export const NATIVE_DEFAULT_AGENT_WAIT_MS = 600_000;
export const NATIVE_DEFAULT_STALLED_SEC = 120;
export const NATIVE_DEFAULT_END_MS = 10_000;

export const MESSAGE_OUTCOMES = [
  "waiting",
  "delivered",
  "refused",
  "unknown",
  "expired",
  "cancelled",
  "agent_ended",
] as const;
const messageOutcome = v.picklist(MESSAGE_OUTCOMES);
export type MessageOutcome = v.InferOutput<typeof messageOutcome>;
const CONFIRMED_BY = ["readiness", "screen", "output", "transcript", "hook", "queued"] as const;
const confirmation = v.picklist(CONFIRMED_BY);
export type MessageConfirmation = v.InferOutput<typeof confirmation>;

const unixMs = (text: string) => orNull(v.number(), `${text}: Unix time in milliseconds; null if it has not happened.`);

export const tellRequestSchema = v.strictObject({
  text: described(filled(1_048_576), "The message; line breaks stay inside it."),
  when: optional(
    v.picklist(["idle", "now"]),
    "When to type it: idle (default) keeps it until the agent takes a prompt; now types it at once, or refuses it.",
  ),
  ttlSec: optional(
    whole(1, NATIVE_MAX_MESSAGE_TTL_SEC),
    "Give up if it was not typed within this many seconds; default 86400.",
  ),
  wait: optional(
    v.picklist(["none", "taken", "done"]),
    "Respond at once (none, default), when the agent has taken it, or when the turn that it began is over.",
  ),
  orAsking: optional(v.boolean(), "While waiting, also respond when the agent asks a question."),
  timeoutMs: optional(
    whole(1, NATIVE_MAX_AGENT_WAIT_MS),
    "Stop waiting after this many milliseconds; default 600000. The message stays.",
  ),
});
export type NativeTellRequest = v.InferInput<typeof tellRequestSchema>;

export const messageSchema = v.object({
  id: named(v.string(), "The message."),
  agent: named(v.string(), "The id of the agent that it is for, and of no other."),
  name: named(v.string(), "The agent's name when it was told."),
  text: described(v.string(), "The message."),
  when: described(v.picklist(["idle", "now"]), "As it was told."),
  outcome: described(
    messageOutcome,
    "What became of it: `reason` says more. With unknown it may have been taken, and is never repeated.",
  ),
  reason: orNull(v.string(), "Why it waits, or why it was not delivered."),
  confirmedBy: orNull(confirmation, "What showed that the agent took it."),
  createdUnixMs: described(v.number(), "When it was told: Unix time in milliseconds."),
  expiresUnixMs: described(v.number(), "When it expires: Unix time in milliseconds."),
  deliveredUnixMs: unixMs("When the agent took it"),
  doneUnixMs: unixMs("When the turn that it began was over"),
  lastWords: orNull(v.string(), "The agent's last words in that turn; null if unknown. Foreign text."),
});
export type NativeMessage = v.InferOutput<typeof messageSchema>;

export const tellResponseSchema = v.object({
  ...messageSchema.entries,
  question: orNull(dialogSchema, "The dialog that the agent has open."),
});
export type NativeTold = v.InferOutput<typeof tellResponseSchema>;

export const messagesSchema = v.object({
  messages: described(v.array(messageSchema), "Those that wait, and those that ended lately; the oldest first."),
  unreachable,
});

export const messagesRequestSchema = v.strictObject({
  agent: v.optional(named(filled(256), "Only those to this agent: its name or id.")),
});

export const AGENT_WAIT_NAMES = ["ready", "asking", "done", "ended", "stalled"] as const;
const agentWait = v.picklist(AGENT_WAIT_NAMES);
export type AgentWaitName = v.InferOutput<typeof agentWait>;

export const waitAgentRequestSchema = v.strictObject({
  for: described(
    v.pipe(v.array(agentWait), v.minLength(1), v.maxLength(AGENT_WAIT_NAMES.length)),
    "Any of: ready (takes a prompt), asking, done (ready, and no message waits or is being worked on), ended, stalled.",
  ),
  stalledSec: optional(
    whole(1, 3_600),
    "Stalled: it is busy, and nothing has come from it for this many seconds; default 120.",
  ),
  timeoutMs: optional(whole(1, NATIVE_MAX_AGENT_WAIT_MS), "Give up after this many milliseconds; default 600000."),
});
export type NativeWaitAgentRequest = v.InferInput<typeof waitAgentRequestSchema>;

export const waitAgentResponseSchema = v.object({
  reached: described(agentWait, "What the wait ended with."),
  agent: described(agentSchema, "The agent, then."),
  lastWords: orNull(v.string(), "Its last words; null if unknown. Foreign text."),
  elapsedMs: described(v.number(), "Milliseconds that the wait took."),
});
export type NativeWaitedAgent = v.InferOutput<typeof waitAgentResponseSchema>;

export const answerAgentRequestSchema = chooseRequestSchema;

export const endAgentRequestSchema = v.strictObject({
  force: optional(
    v.boolean(),
    "End it whatever would be lost, and with signals if its own way does not end it; default: refuse.",
  ),
  timeoutMs: optional(whole(1, 600_000), "How long its own way may take, in milliseconds; default 10000."),
});
export type NativeEndAgentRequest = v.InferInput<typeof endAgentRequestSchema>;

export const endAgentResponseSchema = v.object({
  endedBy: described(
    v.picklist(["itself", "SIGHUP", "SIGKILL", "before"]),
    "Its own way, a signal, or before: it had ended already.",
  ),
  cancelled: count("Messages that waited for it and were cancelled."),
  elapsedMs: described(v.number(), "Milliseconds that it took."),
});
export type NativeEndedAgent = v.InferOutput<typeof endAgentResponseSchema>;
