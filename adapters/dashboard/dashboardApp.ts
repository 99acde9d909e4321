/**
 * The dashboard's application: the contract's routes (docs/contracts/dashboard.md), those of its page, and the parts behind
 * them. Routes parse bodies themselves, because each part of the contract has its own error for an invalid one.
 */
import { Hono } from "hono";
import type { Database } from "../../daemon/ops/sql/sqlite.ts";
import { Feeds } from "../../daemon/panes/feeds.ts";
import type { RecordingRegistry } from "../../daemon/recordings/recordingRegistry.ts";
import { type AppError, toAppError } from "../../protocol/errors.ts";
import { errorHandler, type VisibleError } from "../kit/guard/httpErrors.ts";
import { createGuard, type GuardEnv, type GuardOptions } from "../kit/guard/requestGuard.ts";
import { serveRoutes } from "../kit/guard/routes.ts";
import { NO_TOKEN, tokenAccess } from "./access.ts";
import { AgentBook } from "./agents/agentBook.ts";
import { AgentDesk } from "./agents/agentDesk.ts";
import { agentRoutes } from "./agentRoutes.ts";
import { recordingRoutes } from "./dashboardRoutes.ts";
import { eventRoutes, type OpenStreams, PAGE_EVENTS } from "./events/eventRoutes.ts";
import { paneRoutes } from "./paneRoutes.ts";
import { answerRoutes, pushRoutes } from "./pushRoutes.ts";
import type { DeliverParts } from "./respond/deliverAnswer.ts";
import { respondRoutes } from "./respond/respondRoutes.ts";
import { sessionRoutes } from "./sessionRoutes.ts";
import { templateRoutes } from "./templateRoutes.ts";
import { errorBody as operationErrorBody } from "../kit/operations/errorBody.ts";
import type { OperationContext } from "../operations/operation.ts";
import type { OtherMachines } from "../kit/streams/otherMachines.ts";
import { hostPaneRoutes, pageOperations } from "./pageOperations.ts";
import { FoundAgents } from "./panes/foundAgents.ts";
import type { AgentNotifier } from "../agents/notify/agentNotifier.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import { DashboardEvents } from "./events/dashboardEvents.ts";
import { type HookRouteParts, hookRoutes } from "./hooks/hookRoutes.ts";
import { PageFiles } from "../kit/pageFiles.ts";
import { createWebSocketServer, type WebSocketRoutes } from "../kit/streams/websocket.ts";
import { MAX_PAGE_MESSAGE_BYTES } from "./dashboardLimits.ts";
import { type AvailabilityOptions, measureAvailability } from "./panes/availability.ts";
import { PaneLinks, type PaneLinksOptions } from "./panes/paneLinks.ts";
import { AnswerKeys } from "./respond/answerKeys.ts";
import { DashboardStore } from "./store/store.ts";

export interface DashboardAppOptions extends Pick<
  PaneLinksOptions,
  "server" | "clock" | "nowUnixMs" | "log" | "readiness"
> {
  readonly delivery: Delivery;
  readonly settings: DeliverParts["settings"] & HookRouteParts["settings"];
  /** Resolves when panes can be matched to agents; absent: already. Never rejects. */
  readonly listed?: Promise<void> | undefined;
  /** The daemon's; absent: no recordings. */
  readonly recordings?: RecordingRegistry | undefined;
  /** The daemon's. */
  readonly running: Pick<AgentDirectory, "reported" | "onCheck" | "agents" | "subscribe" | "screens">;
  /** What the page asks of the daemon besides the contract, on this server alone; absent: nothing. */
  readonly operations?: OperationContext | undefined;
  /** The other machines, if they are served; absent: none. */
  readonly machines?: (() => OtherMachines | undefined) | undefined;
  /** The daemon's; absent: its page cannot have a browser notified. */
  readonly notifier?: AgentNotifier | undefined;
  /** Opened with `MIGRATIONS`; closed by `close`. */
  readonly database: Database;
  readonly availability: Omit<AvailabilityOptions, "server">;
  /** Where the built page is. */
  readonly pageDirectory: string;
  /** Absent: everyone whom `users` allows has full access. */
  readonly token?: string | undefined;
  /** Which users of this machine are allowed; absent: all, or those with the token. */
  readonly users?: GuardOptions["users"];
  readonly hosts?: ReadonlySet<string> | undefined;
  /** Includes the page's own, which are known once there is a port. */
  readonly origins: ReadonlySet<string>;
  readonly streamBounds?: Pick<OpenStreams, "stallMs" | "bufferBytes"> | undefined;
}

interface DashboardApp {
  readonly app: Hono<GuardEnv>;
  /** For `ListenOptions.websocket`. */
  readonly websocket: WebSocketRoutes;
  /** Ends every stream; call it before the listener's `close`. */
  readonly end: () => void;
  /** Resolves when tmux has all agents' pane options; call it before the connection to tmux is closed. */
  readonly settled: () => Promise<void>;
  /** Releases the panes: the end of our connection says nothing about them. */
  readonly leave: () => void;
  /** Releases panes and database, once nothing writes any more. Safe to call twice. */
  readonly close: () => void;
}

export function createDashboardApp(options: DashboardAppOptions): DashboardApp {
  const { server, delivery, database, settings, clock, nowUnixMs, log } = options;
  const store = new DashboardStore({ database, clock, nowUnixMs, log });
  const book = new AgentBook(store, nowUnixMs);
  const onError = (error: unknown): void => log.error("dashboard.subscriber.failed", { error });
  const events = new DashboardEvents({ nextId: () => store.nextEventId(), onError });
  const desk = new AgentDesk({ store, book, events, nowUnixMs });
  const measure = measureAvailability({ ...options.availability, server });
  const { listed, operations, machines = () => undefined } = options;
  const { programs } = options.availability;
  const panes = new PaneLinks({ ...options, listed, book, desk, measure, programs });
  const agents = { server, store, book, events, desk, panes, clock, nowUnixMs, log };
  const found = new FoundAgents({ ...options, listed, book, desk, panes, messages: options.operations?.messages });
  const answers = new AnswerKeys({ store, clock, nowUnixMs });
  const streams = { clock, open: new Set<() => void>(), ...options.streamBounds };
  const access = tokenAccess(options.token);
  const app = new Hono<GuardEnv>();
  const respondTo = errorHandler(log, errorBody);
  const respondToOperation = errorHandler(log, operationErrorBody);
  app.onError((error, c) => {
    if (c.req.path.startsWith("/v1/")) return respondToOperation(error, c);
    // To the contract's clients 503 means: retry later.
    if (databaseReason(toAppError(error)) === undefined) return respondTo(error, c);
    return c.json(errorBody({ message: error.message, error: toAppError(error) }), 503);
  });
  const guard = createGuard({
    peers: "loopback",
    users: options.users,
    hosts: options.hosts ?? new Set(),
    origins: options.origins,
    missingOrigin: "allow",
    token: undefined,
    proves: access.proves,
    unauthorized: NO_TOKEN,
    corsMethods: "GET,POST,DELETE,OPTIONS",
    clock,
  });
  serveRoutes(app, guard, [
    ...new PageFiles(options.pageDirectory).routes(["/"], "/page"),
    access.route,
    ...agentRoutes({
      ...agents,
      running: options.running,
      machines,
      serverName: () => (operations === undefined ? undefined : [...operations.servers.keys()][0]),
    }),
    ...paneRoutes({ ...agents, feeds: new Feeds({ server, clock, onError }), streams }),
    ...respondRoutes({ ...agents, delivery, settings, answers }),
    ...sessionRoutes(agents),
    ...recordingRoutes(options.recordings),
    ...templateRoutes(store),
    ...eventRoutes({ events, machines, streams, onError }),
    ...hostPaneRoutes({ machines, streams }),
    ...(operations === undefined ? [] : pageOperations(operations, server)),
    ...(options.notifier === undefined ? [] : pushRoutes(options.notifier)),
    ...(options.notifier === undefined || operations === undefined ? [] : answerRoutes(options.notifier, operations)),
    ...hookRoutes({ ...agents, settings }),
  ]);
  const leave = (): void => {
    found.close();
    panes.close();
  };
  return {
    app,
    websocket: createWebSocketServer({
      paths: [PAGE_EVENTS],
      protocol: undefined,
      maxMessageBytes: MAX_PAGE_MESSAGE_BYTES,
      clock,
    }),
    end: () => {
      for (const end of streams.open) end();
    },
    settled: () => panes.agentOption.settled(),
    leave,
    close: () => {
      leave();
      store.close();
    },
  };
}

const errorBody = ({ message, error }: Pick<VisibleError, "message" | "error">) => ({
  status: "error",
  error_type: databaseReason(error) ?? peerReason(error) ?? error.code.toLowerCase(),
  message,
});

function databaseReason({ details }: AppError): string | undefined {
  const reason = details?.["reason"];
  return typeof reason === "string" && reason.startsWith("database_") ? reason : undefined;
}

/** Why the peer was refused. */
const peerReason = ({ code, details }: AppError): string | undefined =>
  code === "FORBIDDEN" && typeof details?.["reason"] === "string" ? details["reason"] : undefined;
