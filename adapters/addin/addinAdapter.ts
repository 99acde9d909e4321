import { defineAdapter } from "../serving/adapter.ts";
import { ADDIN_FLAGS, readAddin } from "./addinConfig.ts";

export const addinAdapter = defineAdapter({
  name: "addin",
  title: "the add-in's bridge",
  flags: ADDIN_FLAGS,
  isOptIn: true,
  readConfig: readAddin,
  offBecause: ({ isWanted }) =>
    isWanted
      ? undefined
      : "it creates a certificate authority for this user; start it with `tmuxwire enable addin` permanently, or `tmuxwire serve --with addin` once",
  checks: async (config, inputs) => (await import("./addinChecks.ts")).addinChecks(config, inputs),
  start: async (config, context) => (await import("./serveAddin.ts")).startAddin(config, context),
});
