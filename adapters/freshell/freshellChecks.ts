/** What a start of Freshell's listener depends on. */
import { urlHost } from "../kit/peers/addresses.ts";
import { type Check, type CheckInputs, ok } from "../serving/findings.ts";
import { portCheck } from "../serving/listenerChecks.ts";
import { ownTmuxChecks } from "../serving/tmuxChecks.ts";
import { FRESHELL_SETTINGS, type FreshellConfig, offBecause } from "./freshellConfig.ts";

export function freshellChecks(config: FreshellConfig, { env }: CheckInputs): readonly Check[] {
  const off = offBecause(config);
  if (off !== undefined) return [{ name: "Freshell", probe: () => ok("Freshell", `not served: ${off}`) }];
  const { host, port, tmuxSocketPath, allowLan } = config;
  return [
    ...ownTmuxChecks("Freshell tmux", tmuxSocketPath, FRESHELL_SETTINGS.tmuxSocket, env),
    portCheck({
      name: "Freshell port",
      host,
      port,
      settings: FRESHELL_SETTINGS,
      remote: allowLan,
      url: `http://${urlHost(host)}:${port}/api/health`,
      isOurs: (body) => typeof body === "object" && body !== null && "app" in body && body.app === "freshell",
    }),
  ];
}
