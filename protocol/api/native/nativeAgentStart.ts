/** Starting agents, their worktrees, and bringing back what ran, in the native API (docs/contracts/native.md, "Agents"). */
import * as v from "valibot";
import { count, described, filled, named, optional, orNull, whole } from "../described.ts";
import { unreachable } from "./nativeHosts.ts";
import { agentSchema } from "./nativeAgents.ts";
import { dialogSchema } from "./nativeReadiness.ts";

const NATIVE_MAX_START_MS = 600_000;
const MAX_ARGS = 256;
const MAX_RESUMED = 1_000;

const directory = v.pipe(v.string(), v.startsWith("/", "cwd must be an absolute path"), v.maxLength(4_096));

const worktreeRequest = v.union([
  v.boolean(),
  v.strictObject({
    branch: optional(filled(256), "The branch; made if there is none of this name. Default: agent/NAME."),
    from: optional(filled(256), "Where a new branch begins; default: what is checked out in cwd."),
  }),
]);

export const startAgentSchema = v.strictObject({
  agent: described(filled(64), "Which agent: a name from `tmuxwire profiles`."),
  name: optional(filled(64), "What to call it; default: the agent's name, with a number if that is taken."),
  prompt: optional(v.string(), "Its first prompt; line breaks stay inside it."),
  program: optional(filled(4_096), "The program, if it is not on the PATH of the pane under the agent's name."),
  args: optional(v.pipe(v.array(v.string()), v.maxLength(MAX_ARGS)), "Its arguments."),
  cwd: optional(directory, "Where it runs: an absolute path; default: your home directory."),
  environment: optional(v.record(filled(256), v.string()), "Variables in addition to the server's."),
  server: v.optional(named(filled(128), "The server's name; default: the daemon's own.")),
  where: optional(
    v.variant("kind", [
      v.strictObject({
        kind: described(v.literal("session"), "A session of its own."),
        name: optional(filled(256), "The session's name; default: the agent's."),
      }),
      v.strictObject({
        kind: described(v.literal("window"), "A new window."),
        session: described(filled(256), "The session's name or id."),
      }),
      v.strictObject({
        kind: described(v.literal("split"), "A part of a pane."),
        pane: described(filled(256), "The pane's id, or the name of a session whose active pane is meant."),
        direction: optional(v.picklist(["horizontal", "vertical"]), "Beside it, or below it (default)."),
      }),
    ]),
    "Where it runs; default: in a session of its own.",
  ),
  resume: optional(filled(256), "The agent's own id of a conversation to go on with."),
  worktree: optional(
    worktreeRequest,
    "Give it a git worktree with a branch of its own, made beside the repository of cwd.",
  ),
  timeoutMs: optional(
    whole(1, NATIVE_MAX_START_MS),
    "Give up after so many milliseconds until it is ready, and as long again until it has taken the prompt; default 60000.",
  ),
});
export type NativeStartAgent = v.InferInput<typeof startAgentSchema>;

export const agentStartedSchema = v.object({
  agent: orNull(agentSchema, "The agent; null if it never ran, or was not recognised."),
  server: named(v.string(), "The server's name."),
  session: orNull(v.string(), "Its session's name; null once its pane is closed."),
  window: orNull(v.string(), "Its window's id; null once its pane is closed."),
  pane: described(v.string(), "Its pane's id."),
  outcome: described(
    v.picklist([
      "ready",
      "submitted",
      "queued",
      "asking",
      "refused",
      "late",
      "ended",
      "echoed_unconfirmed",
      "not_echoed",
      "indeterminate",
    ]),
    "What became of it: ready (without a prompt), asking (it asks something first, and has no prompt yet), late (not ready " +
      "in time), ended (it did not start, or ended at once), refused, or the outcome of the prompt as in `submit`.",
  ),
  reason: orNull(v.string(), "Why it has not taken its prompt; null if it has."),
  question: orNull(dialogSchema, "The question that it asks first."),
  screen: orNull(v.string(), "The end of its screen, unless all is as wished. Foreign text."),
  worktree: orNull(v.string(), "The worktree that was made for it."),
  readyMs: orNull(v.number(), "Milliseconds from the creation of its pane until it was ready; null if it was not."),
  takenMs: orNull(v.number(), "The same until it had taken its prompt; null if it has not."),
  repeated: described(v.boolean(), "True if a start with this key was begun before: nothing was started now."),
});
export type NativeAgentStarted = v.InferOutput<typeof agentStartedSchema>;

const worktreeSchema = v.object({
  name: named(v.string(), "Unique among the worktrees that the daemon has made."),
  path: described(v.string(), "Its folder."),
  repository: described(v.string(), "The repository's own folder."),
  branch: described(v.string(), "Its branch."),
  madeUnixMs: described(v.number(), "When it was made: Unix time in milliseconds."),
  exists: described(v.boolean(), "False if somebody has removed the folder."),
  uncommitted: count("Files that are changed or not tracked."),
  unpushed: count("Commits that no other branch, no tag and no remote has."),
  underWay: orNull(v.string(), "What was begun in it and not ended, such as a rebase."),
  agents: described(v.array(named(v.string(), "The agent's name.")), "Names of the agents that run in it."),
});
export type NativeWorktree = v.InferOutput<typeof worktreeSchema>;
export const worktreesSchema = v.object({
  worktrees: described(v.array(worktreeSchema), "Oldest first."),
  unreachable,
});

export const removedWorktreeSchema = v.object({
  name: named(v.string(), "Its name."),
  path: described(v.string(), "The folder that was removed."),
  branch: described(v.string(), "Its branch."),
});

export const resumeAgentsSchema = v.strictObject({
  agents: optional(
    v.pipe(v.array(named(filled(256), "The name of an agent.")), v.minLength(1), v.maxLength(MAX_RESUMED)),
    "Names of agents that ran; default: none. Give either this or all.",
  ),
  all: optional(v.boolean(), "All that ran when their server ended."),
  plan: optional(v.boolean(), "Only say what would be done."),
  server: v.optional(named(filled(128), "Only what ran on this server.")),
  timeoutMs: optional(whole(1, NATIVE_MAX_START_MS), "Until an agent is ready, in milliseconds; default 180000."),
});
export type NativeResumeAgents = v.InferInput<typeof resumeAgentsSchema>;

export const resumedAgentsSchema = v.object({
  agents: described(
    v.array(
      v.object({
        name: named(v.string(), "The agent's name."),
        agent: described(v.string(), "Which agent it is."),
        server: named(v.string(), "Its server's name."),
        session: described(v.string(), "The session that it ran in."),
        cwd: orNull(v.string(), "Where it ran."),
        sessionId: orNull(v.string(), "Its own id of its conversation."),
        outcome: described(
          v.picklist(["planned", "impossible", "running", "resumed", "asking", "late", "ended", "failed"]),
          "What became of it. planned: it can be resumed. impossible: see the reason. running: it runs already. resumed: it is " +
            "ready, in its own conversation. asking, late, ended: as of a start. failed: tmux or the host refused.",
        ),
        reason: orNull(v.string(), "Why it was not or cannot be resumed."),
        pane: orNull(v.string(), "Its new pane."),
      }),
    ),
    "What ran when its server ended, in the order of their sessions.",
  ),
});
export type NativeResumedAgents = v.InferOutput<typeof resumedAgentsSchema>;
