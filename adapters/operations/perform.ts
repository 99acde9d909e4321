/** The one way in which an operation is called: what it is about is found, what it is given is checked, then it runs. */
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { findPane, findServer, findSession } from "./findTargets.ts";
import { parse } from "./inputs.ts";
import type { Call, Names, OperationContext, Scope, Targets } from "./operation.ts";
import { OPERATIONS } from "./operationTable.ts";

export interface OperationRequest extends Call {
  readonly names: Names;
  /** Not checked yet. */
  readonly input: unknown;
}

/** What it does at once is done in this turn. @throws AppError */
export function perform(context: OperationContext, name: OperationName, request: OperationRequest): Promise<object> {
  const operation = OPERATIONS[name];
  return context.measure(name, () => {
    const target = FIND[operation.scope](context, request.names);
    return operation.run(context, target, parse(operation.input, request.input), request) as object | Promise<object>;
  });
}

const serverOf = ({ servers }: OperationContext, { server = "" }: Names) => findServer(servers, server);

const FIND: { readonly [S in Scope]: (context: OperationContext, names: Names) => Targets[S] } = {
  daemon: () => ({}),
  server: (context, names) => ({ server: serverOf(context, names) }),
  session: (context, names) => {
    const server = serverOf(context, names);
    return { server, session: findSession(server, names.session ?? "") };
  },
  pane: (context, names) => {
    const server = serverOf(context, names);
    return { server, pane: findPane(server, names.pane ?? "") };
  },
};
