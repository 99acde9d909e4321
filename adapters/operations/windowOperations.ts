/** Operations on windows and panes, under the names of tmux's commands. */
import type * as v from "valibot";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { LayoutOperation } from "../../daemon/tmux/layout.ts";
import { LAYOUT_OPERATIONS, layoutResultSchema } from "../../protocol/api/nativeLayout.ts";
import { LAYOUT_OPERATION_NAMES, type LayoutOperationName } from "../../protocol/api/operationRoutes.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { findPane, findSession, findWindow } from "./findTargets.ts";
import { ON_TMUX, operation, type Operation } from "./operation.ts";

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
    run: async (_context, { server }, input) => {
      const { session, window, pane } = await server.layout.run(operationOf(server, kind, input));
      return { session: session ?? null, window: window ?? null, pane: pane ?? null };
    },
  });
};

export const windowOperations = Object.fromEntries(
  LAYOUT_OPERATION_NAMES.map((name) => [name, rowOf(name)]),
) as Readonly<Record<LayoutOperationName, WindowOperation>>;

/** The members that name a target, and how to find it. */
const TARGETS: Readonly<Record<string, (server: TmuxServer, text: string) => { readonly id: string }>> = {
  pane: findPane,
  with: findPane,
  to: findPane,
  window: findWindow,
  after: findWindow,
  session: findSession,
};

/** @throws AppError NOT_FOUND */
function operationOf(server: TmuxServer, kind: LayoutOperationName, body: object): LayoutOperation {
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    const find = Object.hasOwn(TARGETS, name) ? TARGETS[name] : undefined;
    return [name, find === undefined || typeof value !== "string" ? value : find(server, value).id];
  });
  return { kind, ...Object.fromEntries(members) } as LayoutOperation;
}
