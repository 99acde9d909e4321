/** The doctor's checks of what the native API needs to start. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readToken } from "../../daemon/ops/tokenFile.ts";
import { prepareSocketPath } from "../../daemon/servers/socketPath.ts";
import { urlHost } from "../kit/peers/addresses.ts";
import { type Check, type CheckInputs, type Finding, ok } from "../serving/findings.ts";
import { isHealth, portCheck } from "../serving/listenerChecks.ts";
import { isListening } from "../serving/socketProbe.ts";
import { guestCheck, ownTmuxChecks } from "../serving/tmuxChecks.ts";
import { NATIVE_SETTINGS, type NativeConfig } from "./nativeConfig.ts";

export const nativeChecks = (config: NativeConfig, { daemon, env }: CheckInputs): readonly Check[] => [
  ...ownTmuxChecks("tmux socket", config.tmuxSocketPath, NATIVE_SETTINGS.tmuxSocket, env),
  ...daemon.guests.map((guest) => guestCheck(guest, env)),
  { name: "unix socket", probe: () => unixSocketCheck(config.socketPath) },
  portCheck({
    name: "native port",
    host: config.host,
    port: config.port,
    settings: NATIVE_SETTINGS,
    remote: config.allowedHosts.length > 0,
    url: `http://${urlHost(config.host)}:${config.port}/livez`,
    isOurs: isHealth,
  }),
  { name: "token", probe: () => tokenCheck(config.tokenPath) },
];

async function unixSocketCheck(path: string): Promise<Finding> {
  if (!existsSync(dirname(path))) return ok("unix socket", `${path} will be created`);
  prepareSocketPath(path, { setting: NATIVE_SETTINGS.socket });
  if (!existsSync(path)) return ok("unix socket", `${path} is free`);
  if (await isListening(path)) return ok("unix socket", `a daemon listens on ${path}`);
  return ok("unix socket", `${path} was left behind by a dead daemon; the next start replaces it`);
}

async function tokenCheck(path: string): Promise<Finding> {
  const token = await readToken(path);
  return ok(
    "token",
    token === undefined ? `${path} will be created on the first start` : `${path}, readable only by you`,
  );
}
