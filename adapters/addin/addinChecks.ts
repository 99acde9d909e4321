/** What the start of the add-in's bridge depends on. */
import { urlHost } from "../http/addresses.ts";
import type { Check, CheckInputs } from "../serving/findings.ts";
import { isHealth, portCheck, usersCheck } from "../serving/listenerChecks.ts";
import { ownTmuxChecks } from "../serving/tmuxChecks.ts";
import { ADDIN_SETTINGS, type AddinConfig } from "./addinConfig.ts";
import { certificateCheck } from "./certificateCheck.ts";

export const addinChecks = (config: AddinConfig, { daemon, env }: CheckInputs): readonly Check[] => [
  ...(config.mode === "tmux" ? ownTmuxChecks("add-in tmux", config.socketPath, ADDIN_SETTINGS.socket, env) : []),
  portCheck({
    name: "add-in port",
    host: config.host,
    port: config.port,
    settings: ADDIN_SETTINGS,
    url: `${config.https ? "https" : "http"}://${urlHost(config.host)}:${config.port}/health`,
    headers: { origin: config.allowedOrigins[0] ?? "" },
    isOurs: isHealth,
  }),
  usersCheck("add-in users", daemon.allowUids, config.token, ADDIN_SETTINGS.token),
  { name: "certificate", probe: () => certificateCheck(config.https, config.certificates) },
];
