import { defineAdapter } from "../serving/adapter.ts";
import { FRESHELL_FLAGS, offBecause, readFreshell } from "./freshellConfig.ts";

export const freshellAdapter = defineAdapter({
  name: "freshell",
  title: "Freshell",
  flags: FRESHELL_FLAGS,
  readConfig: readFreshell,
  offBecause,
  checks: async (config, inputs) => (await import("./freshellChecks.ts")).freshellChecks(config, inputs),
  start: async (config, context) => (await import("./serveFreshell.ts")).startFreshell(config, context),
});
