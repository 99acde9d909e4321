/** What a start of the dashboard depends on. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { examineDatabase } from "../../daemon/ops/sql/database.ts";
import { toAppError } from "../../protocol/errors.ts";
import { isLoopbackAddress, urlHost } from "../kit/peers/addresses.ts";
import { type Check, type CheckInputs, fail, type Finding, ok, warn } from "../serving/findings.ts";
import { portCheck, usersCheck } from "../serving/listenerChecks.ts";
import { DASHBOARD_SETTINGS, type DashboardConfig } from "./dashboardConfig.ts";
import { hasOwner } from "../../daemon/ops/sql/soleOwner.ts";

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
  ...elsewhereChecks(config),
  { name: "dashboard data", probe: () => databaseCheck("dashboard data", config.databasePath) },
];

/** Pages under the name of a proxy, which others may reach. */
function elsewhereChecks({ allowedOrigins, token }: DashboardConfig): readonly Check[] {
  const name = "dashboard from elsewhere";
  return allowedOrigins
    .map((origin) => new URL(origin))
    .filter(({ hostname }) => hostname !== "localhost" && !isLoopbackAddress(hostname))
    .map(({ origin, protocol }) => ({
      name,
      probe: () => {
        if (token === undefined) {
          const what = `whoever reaches ${origin} can type into your panes, without a token`;
          return warn(name, what, `set ${DASHBOARD_SETTINGS.token}`);
        }
        if (protocol === "http:") {
          return warn(name, `${origin} is not encrypted: the token can be read on the way`, "use https there");
        }
        return ok(name, `at ${origin}, with the token`);
      },
    }));
}

/** Its health response, or its request for the token. */
const isDashboard = (body: unknown): boolean =>
  typeof body === "object" &&
  body !== null &&
  ("events_received" in body || ("error_type" in body && body.error_type === "unauthorized"));

const REMEDY = `make that place usable, or choose another with ${DASHBOARD_SETTINGS.database}`;

/** Checks the dashboard's database as a start would meet it; nothing is made, moved or changed here. */
function databaseCheck(check: string, path: string): Finding {
  try {
    if (hasOwner(path)) return ok(check, `a daemon uses ${path}`);
    switch (examineDatabase(path, DASHBOARD_SETTINGS.database)) {
      case "absent":
        requireRoom(path);
        return ok(check, `${path} will be made`);
      case "usable":
        return ok(check, `${path} can be used`);
      case "damaged":
        return warn(
          check,
          `${path} is damaged`,
          "put a copy in its place if you have one; otherwise the next start moves it aside and begins a new one",
        );
    }
  } catch (error) {
    return fail(check, toAppError(error).message, REMEDY);
  }
}

/** Checks its directory, or the nearest existing parent. @throws the system's Error, which names it */
function requireRoom(path: string): void {
  let place = dirname(path);
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  if (!statSync(place).isDirectory()) throw new Error(`${place} is not a directory`);
  accessSync(place, constants.W_OK | constants.X_OK);
}
