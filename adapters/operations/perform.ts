/** The one way to call an operation: its targets are resolved, its input is validated, then it runs. */
import type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
import { parse } from "../../protocol/api/parse.ts";
import { invalidArgument } from "../../protocol/errors.ts";
import { requireAgents } from "./agents/agentOperations.ts";
import { findPaneOrAgent, findServer, findSession } from "./findTargets.ts";
import { requireHosts } from "./hostOperations.ts";
import { requireNotifier } from "./agents/notificationOperations.ts";
import type { OperationContext, OperationRequest, Scope, Targets } from "./operation.ts";
import { SCOPE_NAMES } from "./scopes.ts";
import { requireRecordings } from "./panes/recordingOperations.ts";
import { OPERATIONS } from "./operationTable.ts";

/** The operation's synchronous part runs in this turn. @throws AppError */
export function perform(context: OperationContext, name: OperationName, request: OperationRequest): Promise<object> {
  const { names, input: given, isChecked = false, signal, whileWaiting } = request;
  const operation = OPERATIONS[name];
  const { remote } = context;
  const work = () => {
    if (!isChecked) requireNames(operation.scope, names);
    const theirs = remote?.handOver(name, request);
    if (theirs !== undefined) return theirs;
    const ours = here();
    if (remote === undefined || operation.scope !== "daemon" || request.isOwnOnly === true) return ours;
    return ours instanceof Promise
      ? ours.then((output) => remote.withTheirs(name, request, output))
      : remote.withTheirs(name, request, ours);
  };
  const here = () => {
    const act = (isLate: boolean): object | Promise<object> => {
      const target = FIND[operation.scope](context, names);
      const input = isChecked ? given : parse(operation.input, given);
      return operation.run(context, target, input, { ...request, isLate }) as object | Promise<object>;
    };
    const opening = context.onDemand?.reach(names.server, signal === undefined ? whileWaiting : () => signal);
    return opening === undefined ? act(false) : opening.then(() => act(true));
  };
  return context.measure(name, work, request.requestId);
}

/** @throws AppError INVALID_ARGUMENT */
function requireNames(scope: Scope, names: OperationNames): void {
  const wanted: readonly string[] = SCOPE_NAMES[scope];
  for (const name of wanted) {
    if (names[name as keyof OperationNames] === undefined) throw invalidArgument(`missing ${name}`);
  }
  for (const [name, given] of Object.entries(names)) {
    if (given !== undefined && !wanted.includes(name)) {
      throw invalidArgument(`unexpected ${name}: this operation takes none`);
    }
  }
}

const serverOf = ({ servers }: OperationContext, { server: serverName = "" }: OperationNames) => ({
  server: findServer(servers, serverName),
  serverName,
});

const FIND: { readonly [S in Scope]: (context: OperationContext, names: OperationNames) => Targets[S] } = {
  daemon: () => ({}),
  server: serverOf,
  session: (context, names) => {
    const found = serverOf(context, names);
    return { ...found, session: findSession(found.server, names.session ?? "") };
  },
  pane: (context, { server = "", pane = "" }) => findPaneOrAgent(context, server, pane),
  agent: (context, { agent = "" }) => {
    const agents = requireAgents(context);
    return { agent: agents.find(agent), agents };
  },
  worktree: (_context, { worktree = "" }) => ({ worktree }),
  message: (_context, { message = "" }) => ({ message }),
  host: (context, { host = "" }) => ({ host, hosts: requireHosts(context) }),
  notification: (context, { notification = "" }) => ({ channel: notification, notifier: requireNotifier(context) }),
  recording: (context, { recording = "" }) => ({ recording: requireRecordings(context).find(recording) }),
};
