/**
 * What the page asks of the daemon besides the contract, by the native API's paths: of the dashboard's agents all but answers,
 * which the contract has routes for; of other machines' agents everything, since the daemon beside them has their records.
 */
import type { Context } from "hono";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { OperationName, OperationNames } from "../../protocol/api/operationRoutes.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Route } from "../kit/guard/routes.ts";
import { OPERATION_ENDPOINTS, operationRoute } from "../kit/operations/operationEndpoints.ts";
import type { OperationContext } from "../operations/operation.ts";
import { OPERATIONS } from "../operations/operationTable.ts";
import { perform } from "../operations/perform.ts";
import { queryInput } from "../operations/queryInput.ts";
import { requireRecordings } from "../operations/panes/recordingOperations.ts";
import { requireServed } from "../serving/operationContext.ts";
import type { DashboardParts } from "./dashboardParts.ts";
import { GET } from "./dashboardRoutes.ts";

const HERE: ReadonlySet<OperationName> = new Set(["startAgent", "renameAgent", "tell", "cancelMessage", "endAgent"]);
/** Of agents' panes here alone. */
const RECORDING: ReadonlySet<OperationName> = new Set(["startRecording", "stopRecording"]);
const ELSEWHERE_ALONE: ReadonlySet<OperationName> = new Set(["answerAgent", "interruptAgent", "input"]);

export const pageOperations = (parts: DashboardParts): readonly Route[] => [
  ...operationRoutes(parts),
  farPaneRoute(parts),
];

const operationRoutes = ({ operations: context, server }: DashboardParts): readonly Route[] =>
  OPERATION_ENDPOINTS.filter(({ id }) => id === "timeline" || SERVED.some((each) => each.has(id))).map((row) => {
    const route = operationRoute(context, row, "dashboard");
    if (row.id === "timeline") return { ...route, handle: async (c) => c.json(await timelineOf(context, server, c)) };
    const handle: Route["handle"] = (c) => {
      const names = c.req.param() as Parameters<typeof requireServed>[1];
      if (RECORDING.has(row.id)) {
        requireRecorded(context, server, names);
        return route.handle(c);
      }
      if (context.remote?.finds(names) !== true) {
        if (!HERE.has(row.id)) throw new AppError("NOT_FOUND", "only for agents of another machine");
        requireServed(context, names, (its) => its === server);
      } else if (names.pane !== undefined) requireAgentName(names.pane);
      return route.handle(c);
    };
    return { ...route, handle };
  });

const SERVED = [HERE, RECORDING, ELSEWHERE_ALONE] as const;

/** Of the agents of this server, or of one of another machine's. @throws AppError NOT_FOUND, INVALID_ARGUMENT */
function timelineOf(context: OperationContext, server: TmuxServer, c: Context): Promise<object> {
  const given = queryInput(OPERATIONS.timeline.input, c.req.query()) as { readonly agent?: string };
  const isElsewhere = given.agent !== undefined && context.remote?.finds({ agent: given.agent }) === true;
  const name = context.agents?.nameOf(server);
  if (!isElsewhere && name === undefined) throw new AppError("NOT_FOUND", "no agents are known here");
  const input = isElsewhere ? given : { ...given, server: name };
  return perform(context, "timeline", { names: {}, input });
}

/** @throws AppError NOT_FOUND */
function requireRecorded(context: OperationContext, server: TmuxServer, { pane, recording }: OperationNames): void {
  if (recording !== undefined && context.servers.has(requireRecordings(context).find(recording).server)) return;
  // Named by its agent: the page is for agents.
  if (pane !== undefined && context.agents?.known(pane)?.server === server) return;
  throw new AppError("NOT_FOUND", "that is no agent of a tmux server that is served here, and no recording of it");
}

/** Panes of agents on other machines, named by their agents. */
const farPaneRoute = ({ machines, streams }: DashboardParts): Route => ({
  ...GET,
  path: "/v1/servers/:server/panes/:pane/stream",
  response: { 200: "text/event-stream" },
  errors: ["NOT_FOUND", "INVALID_ARGUMENT", "CONNECTION_LOST", "DAEMON_UNREACHABLE"],
  handle: (c) => {
    const { server = "", pane = "" } = c.req.param();
    const others = machines();
    requireAgentName(pane);
    if (others === undefined) throw new AppError("NOT_FOUND", "this daemon serves no other machine");
    return others.followPane(c, { server, pane }, streams);
  },
});

/** The page is for agents: other panes of the machine are not reached through it. @throws AppError NOT_FOUND */
function requireAgentName(pane: string): void {
  if (!/^agent-[0-9a-f]{12}@/.test(pane)) throw new AppError("NOT_FOUND", "name the pane by its agent's id");
}
