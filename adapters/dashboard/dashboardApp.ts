/**
 * The dashboard's application: the contract's routes (docs/contracts/dashboard.md), those of its page, and the parts behind
 * them. Routes parse bodies themselves, because each part of the contract has its own error for an invalid one.
 */
import { Hono } from "hono";
import { Feeds } from "../../daemon/panes/feeds.ts";
import { type AppError, toAppError } from "../../protocol/errors.ts";
import { errorHandler, type VisibleError } from "../kit/guard/httpErrors.ts";
import { createGuard, type GuardEnv } from "../kit/guard/requestGuard.ts";
import { serveRoutes } from "../kit/guard/routes.ts";
import { NO_TOKEN, tokenAccess } from "./access.ts";
import { AgentBook } from "./agents/agentBook.ts";
import { AgentDesk } from "./agents/agentDesk.ts";
import { agentRoutes } from "./agentRoutes.ts";
import type { DashboardOptions, DashboardParts } from "./dashboardParts.ts";
import { recordingRoutes } from "./dashboardRoutes.ts";
import { eventRoutes, PAGE_EVENTS } from "./events/eventRoutes.ts";
import { paneRoutes } from "./paneRoutes.ts";
import { pushRoutes } from "./pushRoutes.ts";
import { respondRoutes } from "./respond/respondRoutes.ts";
import { sessionRoutes } from "./sessionRoutes.ts";
import { templateRoutes } from "./templateRoutes.ts";
import { errorBody as operationErrorBody } from "../kit/operations/errorBody.ts";
import { pageOperations } from "./pageOperations.ts";
import { FoundAgents } from "./panes/foundAgents.ts";
import { DashboardEvents } from "./events/dashboardEvents.ts";
import { hookRoutes } from "./hooks/hookRoutes.ts";
import { PageFiles } from "../kit/pageFiles.ts";
import { createWebSocketServer } from "../kit/streams/websocket.ts";
import { MAX_PAGE_MESSAGE_BYTES } from "./dashboardLimits.ts";
import { PaneLinks } from "./panes/paneLinks.ts";
import { DashboardStore } from "./store/store.ts";

export function createDashboardApp(options: DashboardOptions) {
  const { server, database, clock, nowUnixMs, log } = options;
  const store = new DashboardStore({ database, clock, nowUnixMs, log });
  const book = new AgentBook(store, nowUnixMs);
  const onError = (error: unknown): void => log.error("dashboard.subscriber.failed", { error });
  const events = new DashboardEvents(store, onError);
  const desk = new AgentDesk({ store, book, events, nowUnixMs });
  const panes = new PaneLinks({ ...options, book, desk });
  const streams = { clock, open: new Set<() => void>(), ...options.streamBounds };
  const feeds = new Feeds({ server, clock, onError });
  const parts: DashboardParts = { ...options, store, book, events, desk, panes, feeds, streams, onError };
  const found = new FoundAgents(parts);
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
    hosts: options.hosts,
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
    ...agentRoutes(parts),
    ...paneRoutes(parts),
    ...respondRoutes(parts),
    ...sessionRoutes(parts),
    ...recordingRoutes(parts),
    ...templateRoutes(parts),
    ...eventRoutes(parts),
    ...pageOperations(parts),
    ...pushRoutes(parts),
    ...hookRoutes(parts),
  ]);
  /** Releases the panes: the end of our connection says nothing about them. */
  const leave = (): void => {
    found.close();
    panes.close();
  };
  return {
    app,
    /** For `ListenOptions.websocket`. */
    websocket: createWebSocketServer({
      paths: [PAGE_EVENTS],
      protocol: undefined,
      maxMessageBytes: MAX_PAGE_MESSAGE_BYTES,
      clock,
    }),
    /** Ends every stream; call it before the listener's `close`. */
    end: (): void => {
      for (const end of streams.open) end();
    },
    /** Resolves when tmux has all agents' pane options; call it before the connection to tmux is closed. */
    settled: () => panes.settled(),
    leave,
    /** Releases panes and database, once nothing writes any more. Safe to call twice. */
    close: (): void => {
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
