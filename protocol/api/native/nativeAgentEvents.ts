/** Events of all agents of a daemon (docs/contracts/native.md §14). Tasks, words, questions and messages are foreign text. */
import * as v from "valibot";
import { agentSchema } from "./nativeAgents.ts";
import { messageSchema } from "./nativeAgentMessages.ts";

const messages = v.array(messageSchema);

/** The `data` of each event; `type` is the event's name. */
export const agentEventSchema = v.variant("type", [
  /** The first: those that run, and the messages for them that were not delivered. */
  v.object({ type: v.literal("agents"), agents: v.array(agentSchema), messages }),
  /** It has appeared or changed or, in the state `ended`, ended. */
  v.object({ type: v.literal("agent"), agent: agentSchema }),
  /** All that were not delivered. */
  v.object({ type: v.literal("messages"), messages }),
  v.object({ type: v.literal("closed"), code: v.string(), message: v.string() }),
]);
export type NativeAgentEvent = v.InferOutput<typeof agentEventSchema>;
