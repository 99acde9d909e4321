/**
 * The dashboard's application: the contract's routes (docs/contracts/dashboard.md), those of its page, and the parts behind
 * them. Routes read bodies themselves, because each part of the contract has its own error for an invalid one.
 */
import { Hono } from "hono";
import type { Database } from "../../daemon/ops/sqlite.ts";
import { Feeds } from "../../daemon/panes/feeds.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { RecordingBook } from "../../daemon/recordings/recordingBook.ts";
import { type AppError, toAppError } from "../../protocol/errors.ts";
import { errorHandler, type VisibleError } from "../kit/guard/httpErrors.ts";
import { createGuard, type GuardEnv, type GuardOptions } from "../kit/guard/requestGuard.ts";
import { serveRoutes } from "../kit/guard/routes.ts";
import { NO_TOKEN, tokenAccess } from "./access.ts";
import { AgentBook } from "./agents/agentBook.ts";
import { AgentDesk } from "./agents/agentDesk.ts";
import type { DashboardContext } from "./dashboardContext.ts";
import { dashboardRoutes } from "./dashboardRoutes.ts";
import { DashboardEvents } from "./events/dashboardEvents.ts";
import { HookStats } from "./hooks/hookStats.ts";
import { PageFiles } from "../kit/pageFiles.ts";
import { type AvailabilityOptions, measureAvailability } from "./panes/availability.ts";
import { PaneLinks } from "./panes/paneLinks.ts";
import { PaneListing } from "./panes/panePlace.ts";
import { AnswerKeys } from "./respond/answerKeys.ts";
import { DashboardStore } from "./store/store.ts";

export interface DashboardAppOptions extends Pick<
  DashboardContext,
  "server" | "delivery" | "settings" | "clock" | "nowUnixMs" | "log"
> {
  /** Resolves when panes can be matched to agents; absent: already. Never rejects. */
  readonly listed?: Promise<void> | undefined;
  readonly readiness: ReadinessWatcher;
  /** The daemon's; absent: no recordings. */
  readonly recordings?: RecordingBook | undefined;
  /** The daemon's. */
  readonly running?: DashboardContext["running"];
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
  readonly streamBounds?: DashboardContext["streamBounds"] | undefined;
}

interface DashboardApp {
  readonly app: Hono<GuardEnv>;
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
  const { clock, log } = options;
  const context = contextOf(options);
  const access = options.token === undefined ? undefined : tokenAccess(options.token);
  const routes = dashboardRoutes(context, new PageFiles(options.pageDirectory), access);
  const app = new Hono<GuardEnv>();
  const onError = errorHandler(log, errorBody);
  app.onError((error, c) => {
    // To the contract's clients 503 means: retry later.
    if (databaseReason(toAppError(error)) === undefined) return onError(error, c);
    return c.json(errorBody({ message: error.message, error: toAppError(error) }), 503);
  });
  const guard = createGuard({
    peers: "loopback",
    users: options.users,
    hosts: options.hosts ?? new Set(),
    origins: options.origins,
    missingOrigin: "allow",
    token: undefined,
    proves: access?.proves,
    unauthorized: NO_TOKEN,
    corsMethods: "GET,POST,DELETE,OPTIONS",
    clock,
  });
  serveRoutes(app, guard, routes);
  return {
    app,
    end: () => {
      for (const end of context.open) end();
    },
    settled: () => context.panes.agentOption.settled(),
    leave: () => context.panes.close(),
    close: () => {
      context.panes.close();
      context.store.close();
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

function contextOf(options: DashboardAppOptions): DashboardContext {
  const { server, listed, readiness, delivery, recordings, running, database, settings, clock, nowUnixMs, log } =
    options;
  const store = new DashboardStore({ database, clock, nowUnixMs, log });
  const book = new AgentBook(store);
  const onError = (error: unknown): void => log.error("dashboard.subscriber.failed", { error });
  const events = new DashboardEvents({ nextId: () => store.nextEventId(), onError });
  const desk = new AgentDesk({ store, book, events, clock, nowUnixMs });
  const measure = measureAvailability({ ...options.availability, server });
  const { programs } = options.availability;
  const panes = new PaneLinks({ server, listed, readiness, book, desk, clock, log, measure, programs });
  return {
    server,
    delivery,
    recordings,
    running,
    feeds: new Feeds({ server, clock, onError }),
    store,
    book,
    desk,
    panes,
    paneListing: new PaneListing(server, clock),
    events,
    hookStats: new HookStats(nowUnixMs),
    answers: new AnswerKeys({ store, clock, nowUnixMs }),
    settings,
    clock,
    nowUnixMs,
    log,
    open: new Set(),
    streamBounds: options.streamBounds ?? {},
  };
}
