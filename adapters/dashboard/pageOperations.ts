/**
 * What the page asks of the daemon besides the contract, by the native API's paths: of the dashboard's agents all but answers,
 * which the contract has routes for; of other machines' agents everything, since the daemon beside them has their records.
 */
import type { Clock } from "../../daemon/time/clock.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Route } from "../kit/guard/routes.ts";
import { OPERATION_ENDPOINTS, operationRoute } from "../kit/operations/operationEndpoints.ts";
import type { OtherMachines } from "../kit/streams/otherMachines.ts";
import type { OperationContext } from "../operations/operation.ts";
import { requireServed } from "../serving/operationContext.ts";
import { GET } from "./dashboardRoutes.ts";
import type { OpenStreams } from "./events/eventRoutes.ts";

const HERE: ReadonlySet<OperationName> = new Set(["startAgent", "renameAgent", "tell", "cancelMessage", "endAgent"]);
const ELSEWHERE_ALONE: ReadonlySet<OperationName> = new Set(["answerAgent", "interruptAgent", "input"]);

export const pageOperations = (context: OperationContext, server: TmuxServer): readonly Route[] =>
  OPERATION_ENDPOINTS.filter(({ id }) => HERE.has(id) || ELSEWHERE_ALONE.has(id)).map((row) => {
    const route = operationRoute(context, row);
    const handle: Route["handle"] = (c) => {
      const names = c.req.param() as Parameters<typeof requireServed>[1];
      if (context.remote?.finds(names) !== true) {
        if (!HERE.has(row.id)) throw new AppError("NOT_FOUND", "only for agents of another machine");
        requireServed(context, names, (its) => its === server);
      } else if (names.pane !== undefined) requireAgentName(names.pane);
      return route.handle(c);
    };
    return { ...route, handle };
  });

interface HostPaneParts {
  readonly machines: () => OtherMachines | undefined;
  readonly clock: Clock;
  readonly streams: OpenStreams;
}

/** Panes of agents on other machines, named by their agents. */
export const hostPaneRoutes = ({ machines, clock, streams }: HostPaneParts): readonly Route[] => [
  {
    ...GET,
    path: "/v1/servers/:server/panes/:pane/stream",
    response: { 200: "text/event-stream" },
    errors: ["NOT_FOUND", "INVALID_ARGUMENT", "CONNECTION_LOST", "DAEMON_UNREACHABLE"],
    handle: (c) => {
      const { server = "", pane = "" } = c.req.param();
      const others = machines();
      requireAgentName(pane);
      if (others === undefined) throw new AppError("NOT_FOUND", "this daemon serves no other machine");
      return others.followPane(c, { server, pane }, { clock, open: streams.open, ...streams.bounds });
    },
  },
];

/** The page is for agents: other panes of the machine are not reached through it. @throws AppError NOT_FOUND */
function requireAgentName(pane: string): void {
  if (!/^agent-[0-9a-f]{12}@/.test(pane)) throw new AppError("NOT_FOUND", "name the pane by its agent's id");
}
