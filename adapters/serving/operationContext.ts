/** For operations on some of the daemon's servers, asked for by another way than the native API. */
import { runCommand } from "../../daemon/shell/runCommand.ts";
import type { RecordingRegistry } from "../../daemon/recordings/recordingRegistry.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import type { OperationNames } from "../../protocol/api/operationRoutes.ts";
import { findPaneOrAgent } from "../operations/findTargets.ts";
import type { Hosts, OperationContext } from "../operations/operation.ts";
import type { StartContext } from "./startContext.ts";

/**
 * None of them is about the daemon itself.
 * @param remote absent: nor about another machine @param recordings absent: none are kept
 */
export function operationsOn(
  servers: () => ReadonlyMap<string, TmuxServer>,
  context: StartContext,
  remote: () => Hosts | undefined = () => undefined,
  recordings?: RecordingRegistry,
): OperationContext {
  const { waits, readiness, delivery, agents, agentWork, messages, timeline, running } = context;
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
    timeline,
    running,
    runCommand,
    recordings,
    // They may be opened later.
    get remote() {
      return remote();
    },
    notifier: undefined,
    clock: systemClock,
    measure: async (_operation, work) => work(),
    treeOf: () => {
      throw new AppError("INTERNAL_ERROR", "no tree is served here");
    },
  };
}

/**
 * The daemon knows agents of other servers and machines as well, and a pane can be named by its agent.
 * @throws AppError NOT_FOUND
 */
export function requireServed(
  context: Pick<OperationContext, "servers" | "agents" | "messages">,
  { server = "", pane, agent, message }: OperationNames,
  has: (server: TmuxServer) => boolean,
): void {
  const { agents, messages } = context;
  if (pane !== undefined && !has(findPaneOrAgent(context, server, pane).server)) throw notServed();
  const subject = message === undefined ? agent : messages?.find(message).agent;
  const found = subject === undefined ? undefined : agents?.find(subject);
  if (subject !== undefined && (found === undefined || !has(found.server))) throw notServed();
}

const notServed = (): AppError => new AppError("NOT_FOUND", "that is no agent of a tmux server that is served here");
