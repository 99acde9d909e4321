import { defineAdapter } from "../serving/adapter.ts";
import { FLEET_FLAGS, offBecause, readFleet } from "./fleetConfig.ts";

export const fleetAdapter = defineAdapter({
  name: "nats",
  title: "NATS",
  flags: FLEET_FLAGS,
  readConfig: readFleet,
  offBecause,
  checks: async (config) => (await import("./fleetChecks.ts")).fleetChecks(config),
  start: async (config, context) => (await import("./serveFleet.ts")).startFleet(config, context),
});
