import { defineAdapter } from "../serving/adapter.ts";
import { DASHBOARD_FLAGS, DASHBOARD_SETTINGS, readDashboard } from "./dashboardConfig.ts";

export const dashboardAdapter = defineAdapter({
  name: "dashboard",
  title: "the dashboard",
  flags: DASHBOARD_FLAGS,
  readConfig: (settings, inputs, { guests }) => readDashboard(settings, inputs, guests),
  checks: async (config, inputs) => (await import("./dashboardChecks.ts")).dashboardChecks(config, inputs),
  requireFree: async ({ databasePath }) => {
    const { becomeSoleOwner } = await import("../../daemon/ops/sql/soleOwner.ts");
    becomeSoleOwner(databasePath, DASHBOARD_SETTINGS.database)();
  },
  start: async (config, context) => (await import("./serveDashboard.ts")).startDashboard(config, context),
});
