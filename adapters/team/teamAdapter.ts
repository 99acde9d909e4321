import { defineAdapter } from "../serving/adapter.ts";
import { readTeam } from "./teamConfig.ts";

export const teamAdapter = defineAdapter({
  name: "team",
  title: "the team contract",
  flags: [],
  isOptIn: true,
  readConfig: readTeam,
  mount: async (config, context) => (await import("./mountTeam.ts")).mountTeam(config, context),
});
