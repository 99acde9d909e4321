/** What a start of the dashboard depends on. */
import { urlHost } from "../http/addresses.ts";
import type { Check, CheckInputs } from "../serving/findings.ts";
import { portCheck, usersCheck } from "../serving/listenerChecks.ts";
import { databaseCheck } from "./databaseCheck.ts";
import { DASHBOARD_SETTINGS, type DashboardConfig } from "./dashboardConfig.ts";

export const dashboardChecks = (config: DashboardConfig, { daemon }: CheckInputs): readonly Check[] => [
  portCheck({
    name: "dashboard port",
    host: config.host,
    port: config.port,
    settings: DASHBOARD_SETTINGS,
    url: `http://${urlHost(config.host)}:${config.port}/hook/status`,
    isOurs: isDashboard,
  }),
  usersCheck("dashboard users", daemon.allowUids, config.token, DASHBOARD_SETTINGS.token),
  { name: "dashboard data", probe: () => databaseCheck("dashboard data", config.databasePath) },
];

/** Its health response, or its request for the token. */
const isDashboard = (body: unknown): boolean =>
  typeof body === "object" &&
  body !== null &&
  ("events_received" in body || ("error_type" in body && body.error_type === "unauthorized"));
