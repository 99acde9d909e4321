import { defineAdapter } from "../serving/adapter.ts";
import { FLEET_FLAGS, NATS_SETTINGS, readFleet } from "./fleetConfig.ts";

export const fleetAdapter = defineAdapter({
  name: "nats",
  title: "NATS",
  flags: FLEET_FLAGS,
  readConfig: readFleet,
  offBecause: ({ access, publish }) =>
    access !== undefined && publish.length === 0
      ? `name the tmux servers to publish with ${NATS_SETTINGS.publish}`
      : undefined,
  checks: async (config) => (await import("./fleetChecks.ts")).fleetChecks(config),
  start: async (config, context) => (await import("./serveFleet.ts")).startFleet(config, context),
});
