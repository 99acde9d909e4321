/** Operations on windows and panes, under the names of tmux's commands. */
import type * as v from "valibot";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { LayoutOperation } from "../../../daemon/tmux/layout.ts";
import { LAYOUT_OPERATIONS, layoutResultSchema } from "../../../protocol/api/native/nativeLayout.ts";
import { LAYOUT_OPERATION_NAMES, type LayoutOperationName } from "../../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../../protocol/errors.ts";
import { findPane, findPaneOrAgent, findSession, findWindow } from "../findTargets.ts";
import { ON_TMUX, operation, type Operation, type OperationContext } from "../operation.ts";

const ERRORS: readonly ErrorCode[] = [
  "INVALID_ARGUMENT",
  "ALREADY_EXISTS",
  "INCONSISTENT_STATE",
  "RESOURCE_LIMIT",
  "TMUX_COMMAND_FAILED",
  ...ON_TMUX,
];

type WindowOperation = Operation<"server", v.GenericSchema, typeof layoutResultSchema>;

const rowOf = (kind: LayoutOperationName): WindowOperation => {
  const { summary, body, example } = LAYOUT_OPERATIONS[kind];
  return operation({
    summary,
    scope: "server",
    input: body,
    output: layoutResultSchema,
    errors: ERRORS,
    example: { input: example, output: { session: "$0", window: "@0", pane: "%5" } },
    run: async (context, { server: named, serverName }, input) => {
      const { pane: target } = input as { readonly pane?: unknown };
      const server = typeof target === "string" ? findPaneOrAgent(context, serverName, target).server : named;
      const { session, window, pane } = await server.layout.run(operationOf(context, server, kind, input));
      return { session: session ?? null, window: window ?? null, pane: pane ?? null };
    },
  });
};

export const windowOperations = Object.fromEntries(
  LAYOUT_OPERATION_NAMES.map((name) => [name, rowOf(name)]),
) as Readonly<Record<LayoutOperationName, WindowOperation>>;

/** The members that name a target, and how to find it on this server. */
const TARGETS: Readonly<
  Record<string, (server: TmuxServer, text: string, context: OperationContext) => { readonly id: string }>
> = {
  pane: paneOn,
  with: paneOn,
  to: paneOn,
  window: findWindow,
  after: findWindow,
  session: findSession,
};

/** An agent's pane only where it is on the same server as the others. @throws AppError NOT_FOUND */
function paneOn(server: TmuxServer, text: string, { agents }: OperationContext): { readonly id: string } {
  const agent = agents?.running(text);
  return agent?.server === server && server.findSession(text) === undefined
    ? { id: agent.pane }
    : findPane(server, text);
}

/** @throws AppError NOT_FOUND */
function operationOf(
  context: OperationContext,
  server: TmuxServer,
  kind: LayoutOperationName,
  body: object,
): LayoutOperation {
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    const find = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
    return [name, find === undefined || typeof value !== "string" ? value : find(server, value, context).id];
  });
  return { kind, ...Object.fromEntries(members) } as LayoutOperation;
}
