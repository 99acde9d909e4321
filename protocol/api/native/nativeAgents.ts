/**
 * Coding agents that run in panes (docs/contracts/native.md, "Agents"). Task, last message, question and names of branches
 * are foreign text.
 */
import * as v from "valibot";
import { described, filled, named, optional, orNull } from "../described.ts";
import { unreachable } from "./nativeHosts.ts";
import { dialogSchema } from "./nativeReadiness.ts";

/** What is looked for on screens: one letter is on each of them. */
export const SCREEN_TEXT_CHARS = { min: 2, max: 256 };

export const AGENT_STATE_NAMES = ["starting", "ready", "busy", "asking", "ended", "unknown"] as const;
const stateName = v.picklist(AGENT_STATE_NAMES);
export type AgentStateName = v.InferOutput<typeof stateName>;

export const agentSchema = v.object({
  id: named(v.string(), "Identifies the agent's process; another process is another agent."),
  name: named(v.string(), "Unique among the agents that run."),
  agent: described(v.string(), "Which agent it is: a name from `tmuxwire profiles`."),
  version: orNull(v.string(), "Its program's version, such as `2.1.330`; null if unknown."),
  state: described(stateName, "What it is doing."),
  sinceUnixMs: orNull(v.number(), "When the state began: Unix time in milliseconds; null if unknown."),
  why: described(v.string(), "What says so, or why the state is unknown."),
  task: orNull(
    v.object({
      text: described(v.string(), "The prompt."),
      sinceUnixMs: described(v.number(), "When the agent took it: Unix time in milliseconds."),
    }),
    "The latest prompt that it took; null if unknown. Foreign text.",
  ),
  lastMessage: orNull(v.string(), "Its last words to the user; null if unknown. Foreign text."),
  question: orNull(dialogSchema, "The dialog that is open."),
  cwd: orNull(v.string(), "Its working directory; null if unknown."),
  branch: orNull(v.string(), "The branch that is checked out there, or the commit; null outside a repository."),
  worktree: orNull(v.string(), "The worktree that was made for it."),
  server: named(v.string(), "The server's name."),
  session: orNull(v.string(), "The session's name; null once its pane is closed."),
  window: orNull(v.string(), "The window's id; null once its pane is closed."),
  pane: described(v.string(), "The pane's id."),
  pid: described(v.number(), "Its process."),
  sessionId: orNull(v.string(), "Its own id of its conversation, where it has said so."),
  startedBy: orNull(v.string(), "Who started it through the daemon, such as `api`."),
  leader: orNull(named(v.string(), "Its id."), "The id of the agent whose teammate it is."),
  onScreen: optional(v.string(), "With `text`: the lowest row of its screen that has it. Foreign text."),
});
export type NativeAgent = v.InferOutput<typeof agentSchema>;

export const agentsSchema = v.object({
  agents: described(v.array(agentSchema), "In the order in which they appeared."),
  unread: optional(v.number(), "With `text`: how many screens could not be looked at, if any."),
  unreachable,
});
export type NativeAgents = v.InferOutput<typeof agentsSchema>;

export const renameAgentSchema = v.strictObject({
  name: described(filled(64), "Letters, digits, `.`, `_` and `-`; unique among the agents that run."),
});

export const agentsRequestSchema = v.strictObject({
  server: v.optional(named(filled(128), "Only those on this server.")),
  state: optional(stateName, "Only those in this state."),
  text: optional(
    v.pipe(v.string(), v.minLength(SCREEN_TEXT_CHARS.min), v.maxLength(SCREEN_TEXT_CHARS.max)),
    "Only those whose screens show this text now: literal, upper and lower case are the same.",
  ),
});
