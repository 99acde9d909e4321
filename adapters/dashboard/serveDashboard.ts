/** The dashboard's listener: the user's own tmux server as a guest, a database, a port (docs/contracts/dashboard.md). */
import { fileURLToPath } from "node:url";
import { openDatabase } from "../../daemon/ops/sql/database.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { createDashboardApp } from "./dashboardApp.ts";
import { MIGRATIONS } from "./store/schema.ts";
import { becomeSoleOwner } from "../../daemon/ops/sql/soleOwner.ts";
import { urlHost } from "../kit/peers/addresses.ts";
import { listen } from "../kit/listeners/listen.ts";
import { operationsOn } from "../serving/operationContext.ts";
import { peerUsers, type StartContext } from "../serving/startContext.ts";
import { DASHBOARD_SETTINGS, type DashboardConfig } from "./dashboardConfig.ts";

/** In the log and in events; not the name of a guest of the native API. */
const SERVER_NAME = "user";

/** @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE */
export async function startDashboard(dashboard: DashboardConfig, context: StartContext): Promise<void> {
  const { readiness, delivery, guests, open, log, print } = context;
  // First, and released last: until then no other daemon may have the database.
  open.rest.push(becomeSoleOwner(dashboard.databasePath, DASHBOARD_SETTINGS.database));
  const database = openDatabase({
    path: dashboard.databasePath,
    setting: DASHBOARD_SETTINGS.database,
    migrations: MIGRATIONS,
    nowUnixMs: Date.now,
    onMovedAside: (movedTo, error) => log.error("dashboard.database.damaged", { movedTo, error }),
  });
  // Not waited for: after a crash tmux may be busy for seconds with the clients that it has lost.
  const { server, listed } = await guests.opened(dashboard.tmuxSocketPath, SERVER_NAME);
  const origins = new Set(dashboard.allowedOrigins);
  const recordings = context.only.has("native") ? await context.recordings() : undefined;
  const { app, websocket, end, settled, leave, close } = createDashboardApp({
    server,
    listed,
    readiness,
    delivery,
    running: context.agents,
    // Others may have another name for it by now.
    operations: operationsOn(
      () => new Map([[context.agents.nameOf(server) ?? SERVER_NAME, server]]),
      context,
      () => context.machines.current,
      recordings,
    ),
    machines: () => context.machines.current,
    notifier: context.notifier,
    database,
    settings: dashboard,
    availability: {
      level: dashboard.availability,
      programs: new Set(dashboard.agentPrograms ?? [...context.catalogue.map(({ name }) => name), "node"]),
    },
    pageDirectory: fileURLToPath(new URL("../dashboard/page", import.meta.url)),
    clock: systemClock,
    nowUnixMs: Date.now,
    log,
    token: dashboard.token,
    users: peerUsers(context, dashboard.token, DASHBOARD_SETTINGS.token),
    // Under the name of a proxy in front of it, whose pages are allowed.
    hosts: new Set([dashboard.host, ...dashboard.allowedOrigins.map((origin) => new URL(origin).hostname)]),
    origins,
  });
  open.surfaces.push(end, settled);
  open.servers.push(leave);
  open.rest.push(close);
  const listener = await listen({
    fetch: app.fetch,
    websocket,
    host: dashboard.host,
    port: dashboard.port,
    clock: systemClock,
    settings: DASHBOARD_SETTINGS,
    log,
  });
  open.surfaces.push(() => listener.close());
  for (const origin of ownOrigins(dashboard, listener.port)) origins.add(origin);
  print(`dashboard listening on ${listener.url}`);
}

/** The page's own, under every name that this machine has for itself. */
const ownOrigins = ({ host }: DashboardConfig, port: number): readonly string[] =>
  ["127.0.0.1", "localhost", "::1", host].map((name) => `http://${urlHost(name)}${port === 80 ? "" : `:${port}`}`);
