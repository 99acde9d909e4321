/** For operations on some of the daemon's servers, asked for by another way than the native API. */
import { runCommand } from "../../daemon/shell/runCommand.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { AgentMessages } from "../agents/messages/agentMessages.ts";
import type { OperationContext } from "../operations/operation.ts";
import type { StartContext } from "./startContext.ts";

/** None of them is about another machine, or about the daemon itself. */
export function operationsOn(servers: () => ReadonlyMap<string, TmuxServer>, context: StartContext): OperationContext {
  const { waits, readiness, delivery, agents, agentWork, messages, running } = context;
  return {
    // Their names may change.
    get servers() {
      return servers();
    },
    waits,
    readiness,
    delivery,
    agents,
    agentWork,
    messages,
    running,
    runCommand,
    recordings: undefined,
    remote: undefined,
    notifier: undefined,
    clock: systemClock,
    measure: async (_operation, work) => work(),
    treeOf: () => {
      throw new AppError("INTERNAL_ERROR", "no tree is served here");
    },
  };
}

interface AgentParts {
  readonly agents: AgentDirectory | undefined;
  readonly messages: AgentMessages | undefined;
}

/** The daemon knows agents of other servers and machines as well. @throws AppError NOT_FOUND */
export function requireAgentOf(
  { agents, messages }: AgentParts,
  { agent, message }: { readonly agent?: string | undefined; readonly message?: string | undefined },
  has: (server: TmuxServer) => boolean,
): void {
  const subject = message === undefined ? agent : messages?.find(message).agent;
  if (subject === undefined) return;
  const found = agents?.find(subject);
  if (found === undefined || !has(found.server))
    throw new AppError("NOT_FOUND", "that is no agent of a tmux server that is served here");
}
