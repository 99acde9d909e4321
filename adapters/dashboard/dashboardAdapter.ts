import { defineAdapter } from "../serving/adapter.ts";
import { DASHBOARD_FLAGS, readDashboard } from "./dashboardConfig.ts";

export const dashboardAdapter = defineAdapter({
  name: "dashboard",
  title: "the dashboard",
  flags: DASHBOARD_FLAGS,
  readConfig: (settings, inputs, { guests }) => readDashboard(settings, inputs, guests),
  checks: async (config, inputs) => (await import("./dashboardChecks.ts")).dashboardChecks(config, inputs),
  requireFree: async ({ databasePath }) => (await import("./store/soleOwner.ts")).becomeSoleOwner(databasePath)(),
  start: async (config, context) => (await import("./serveDashboard.ts")).startDashboard(config, context),
});
