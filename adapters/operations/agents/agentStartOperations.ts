/** Agents: start one, list and remove the worktrees that were made for them, bring back what ran. */
import { homedir } from "node:os";
import type { AgentWork } from "../../agents/start/agentWork.ts";
import type { ResumedAgent } from "../../agents/start/agentResume.ts";
import type { StartPlace, StartResult } from "../../agents/start/agentStarts.ts";
import type { Worktree, WorktreeState } from "../../agents/start/worktrees.ts";
import { OWN_SERVER_NAME } from "../../../daemon/ops/daemonConfig.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import {
  agentStartedSchema,
  type NativeAgentStarted,
  type NativeResumedAgents,
  type NativeStartAgent,
  type NativeWorktree,
  removedWorktreeSchema,
  resumeAgentsSchema,
  resumedAgentsSchema,
  startAgentSchema,
  worktreesSchema,
} from "../../../protocol/api/native/nativeAgentStart.ts";
import { emptyRequestSchema } from "../../../protocol/api/native/nativeRequests.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import { openUsersServer, requireAgents } from "./agentOperations.ts";
import { nativeAgent } from "./agentOutputs.ts";
import { EXAMPLE_AGENT } from "../examples.ts";
import { findPane, findServer, findSession } from "../findTargets.ts";
import { ON_TMUX, operation, type OperationContext, requirePart } from "../operation.ts";

const EXAMPLE_WORKTREE = {
  name: "shop-agent-api",
  path: "/home/me/shop.worktrees/agent-api",
  repository: "/home/me/shop",
  branch: "agent/api",
  madeUnixMs: 1_795_149_767_000,
  exists: true,
  uncommitted: 2,
  unpushed: 1,
  underWay: null,
  agents: ["api"],
} satisfies NativeWorktree;

export const agentStartOperations = {
  startAgent: operation({
    summary: "Start a coding agent and give it a prompt.",
    description:
      "Responds when it has taken the prompt, or with what stands on its screen: read the outcome. When it ends, a shell " +
      "comes in its pane.",
    scope: "daemon",
    input: startAgentSchema,
    output: agentStartedSchema,
    errors: [
      "INVALID_ARGUMENT",
      "ALREADY_EXISTS",
      "INCONSISTENT_STATE",
      "TIMEOUT",
      "RESOURCE_LIMIT",
      "TMUX_COMMAND_FAILED",
      ...ON_TMUX,
    ],
    long: true,
    idempotent: true,
    example: {
      input: { agent: "agent", name: "api", prompt: "fix the failing test", cwd: "/home/me/shop" },
      output: {
        agent: EXAMPLE_AGENT,
        server: "main",
        session: "api",
        window: "@0",
        pane: "%5",
        outcome: "submitted",
        reason: null,
        question: null,
        screen: null,
        worktree: null,
        readyMs: 1_400,
        takenMs: 1_650,
        repeated: false,
      },
    },
    run: async (context, _target, input, { idempotencyKey, by = "api" }) => {
      const { starts } = requireAgentWork(context);
      const { serverName, server } = await serverOf(context, input.server);
      const { worktree, agent: kindName, where, cwd = homedir(), ...request } = input;
      const kind = requireAgents(context).kind(kindName);
      requireVisible(context, serverName);
      const result = await starts.start({
        ...request,
        server,
        serverName,
        kind,
        cwd,
        where: placeOf(server, where),
        worktree: worktree === true ? {} : worktree === false ? undefined : worktree,
        startedBy: by,
        idempotencyKey,
      });
      return nativeStarted(context, serverName, server, result);
    },
  }),

  listWorktrees: operation({
    summary: "List the worktrees that were made for agents.",
    description: "Each with what would be lost with it.",
    scope: "daemon",
    input: emptyRequestSchema,
    output: worktreesSchema,
    errors: ["INVALID_ARGUMENT", "INCONSISTENT_STATE", "NOT_FOUND", "TIMEOUT", "RESOURCE_LIMIT"],
    example: { input: {}, output: { worktrees: [EXAMPLE_WORKTREE] } },
    run: async (context) => ({ worktrees: (await requireAgentWork(context).worktrees.list()).map(nativeWorktree) }),
  }),

  removeWorktree: operation({
    summary: "Remove a worktree that was made for an agent.",
    description:
      "Refused with WRONG_STATE while anything would be lost: files that are not committed, commits that only its branch " +
      "has, an agent that runs in it. Its branch goes too if it was made with it.",
    scope: "worktree",
    input: emptyRequestSchema,
    output: removedWorktreeSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", "WRONG_STATE", "INCONSISTENT_STATE", "TIMEOUT", "RESOURCE_LIMIT"],
    example: {
      input: {},
      output: { name: EXAMPLE_WORKTREE.name, path: EXAMPLE_WORKTREE.path, branch: EXAMPLE_WORKTREE.branch },
    },
    run: async (context, { worktree }) => {
      const { name, path, branch } = await requireAgentWork(context).worktrees.remove(worktree);
      return { name, path, branch };
    },
  }),

  resumeAgents: operation({
    summary: "Bring back the agents that ran when their tmux server ended.",
    description:
      "Their sessions and windows come back with names and layout, and each agent continues its own conversation. With " +
      "`plan`, only says what would be done. An agent that runs is not started again.",
    scope: "daemon",
    input: resumeAgentsSchema,
    output: resumedAgentsSchema,
    errors: ["INVALID_ARGUMENT", ...ON_TMUX],
    long: true,
    example: {
      input: { all: true, plan: true },
      output: {
        agents: [
          {
            name: "api",
            agent: "agent",
            server: "main",
            session: "work",
            cwd: "/home/me/shop",
            sessionId: "11111111-2222-4333-8444-555555555555",
            outcome: "planned",
            reason: null,
            pane: null,
          },
        ],
      },
    },
    run: async (context, _target, { agents, all = false, plan = false, server, timeoutMs }) => {
      if ((agents !== undefined) === all && !plan) {
        throw invalidArgument("say which: give agents or all, or plan to see what there is");
      }
      const { resume } = requireAgentWork(context);
      if (server !== undefined) await serverOf(context, server);
      const { onDemand } = context;
      const reason = server === undefined ? await openUsersServer(context, undefined) : undefined;
      const closed =
        reason === undefined || onDemand === undefined ? undefined : { name: onDemand.usersServer, reason };
      const servers = new Map([...context.servers].filter(([name]) => server === undefined || name === server));
      const names = agents === undefined ? undefined : new Set(agents);
      const resumed = await resume.resume(servers, { names, isPlan: plan, closed, timeoutMs });
      return { agents: resumed.map(nativeResumed) };
    },
  }),
} as const;

/** @throws AppError INVALID_ARGUMENT */
const requireAgentWork = ({ agentWork }: OperationContext): AgentWork =>
  requirePart(agentWork, "starts no agents; run the daemon of `tmuxwire serve`");

/** An agent is known by its process. @throws AppError INVALID_ARGUMENT */
function requireVisible({ remote }: OperationContext, serverName: string): void {
  if (remote?.isAgentless(serverName) !== true) return;
  throw invalidArgument(
    `the programs on ${JSON.stringify(serverName)} cannot be seen from here, so no agent is started there: run its command in a pane, or install tmuxwire on that machine`,
  );
}

/** @throws AppError NOT_FOUND, and what opening it throws */
async function serverOf(
  { servers, onDemand }: OperationContext,
  given = OWN_SERVER_NAME,
): Promise<{ readonly serverName: string; readonly server: TmuxServer }> {
  await onDemand?.reach(given);
  return { serverName: given, server: findServer(servers, given) };
}

/** @throws AppError NOT_FOUND */
function placeOf(server: TmuxServer, where: NativeStartAgent["where"]): StartPlace | undefined {
  switch (where?.kind) {
    case "window":
      return { kind: "window", session: findSession(server, where.session).id };
    case "split":
      return { kind: "split", pane: findPane(server, where.pane).id, direction: where.direction };
    case "session":
    case undefined:
      return where;
  }
}

function nativeStarted(
  context: OperationContext,
  serverName: string,
  server: TmuxServer,
  started: StartResult & { readonly repeated: boolean },
): NativeAgentStarted {
  const { agentId, pane, outcome, reason, dialog, screen, worktree, readyMs, takenMs, repeated } = started;
  const agent = agentId === undefined ? undefined : requireAgents(context).known(agentId);
  const window = server.findPane(pane)?.window;
  const session =
    window === undefined ? undefined : server.sessions().find(({ windows }) => windows.includes(window))?.name;
  return {
    agent: agent === undefined ? null : nativeAgent(agent),
    server: serverName,
    session: session ?? null,
    window: window ?? null,
    pane,
    outcome,
    reason: reason ?? null,
    question: (dialog ?? null) as NativeAgentStarted["question"],
    screen: screen ?? null,
    worktree: worktree ?? null,
    readyMs: readyMs ?? null,
    takenMs: takenMs ?? null,
    repeated,
  };
}

function nativeWorktree(worktree: Worktree & WorktreeState): NativeWorktree {
  const { name, path, repository, branch, madeUnixMs, exists, uncommitted, unpushed, underWay, agents } = worktree;
  const state = { exists, uncommitted, unpushed, underWay: underWay ?? null, agents: [...agents] };
  return { name, path, repository, branch, madeUnixMs, ...state };
}

function nativeResumed(resumed: ResumedAgent): NativeResumedAgents["agents"][number] {
  const { agent, place, cwd, outcome, reason, pane } = resumed;
  return {
    name: agent.name,
    agent: agent.kind,
    server: place.server,
    session: place.session,
    cwd: cwd ?? null,
    sessionId: agent.sessionId ?? null,
    outcome,
    reason: reason ?? null,
    pane: pane ?? null,
  };
}
