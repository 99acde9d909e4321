/** Freshell's listener: an owned tmux server, a token, a port (docs/contracts/freshell.md). */
import { homedir, hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { AppError } from "../../protocol/errors.ts";
import { urlHost } from "../kit/peers/addresses.ts";
import { listen } from "../kit/listeners/listen.ts";
import { openOwnedServer, type StartContext } from "../serving/startContext.ts";
import { packageVersion } from "../serving/version.ts";
import { createFreshellApp } from "./freshellApp.ts";
import { FRESHELL_SETTINGS, type FreshellConfig, isThisMachine, lanAddresses, offBecause } from "./freshellConfig.ts";
import { sessionFile } from "./tokens/credentials.ts";

/** @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE */
export async function startFreshell(config: FreshellConfig, context: StartContext): Promise<void> {
  const { waits, open, log, print, env } = context;
  const { token, host, port } = config;
  if (token === undefined) throw new AppError("CONFIGURATION_INVALID", `Freshell: ${offBecause(config)}`);
  const { tmuxSocket: setting } = FRESHELL_SETTINGS;
  const server = await openOwnedServer(context, { name: "freshell", socketPath: config.tmuxSocketPath, setting });
  const names = namesOf(config);
  const origins = new Set(config.allowedOrigins);
  let url = "";
  const { app, websocket, close, end } = await createFreshellApp({
    server,
    waits,
    config: { ...config, token },
    programs: { env: paneEnvironment(env), daemonEnv: env, agents: context.catalogue },
    homeDir: homedir(),
    pageDirectory: fileURLToPath(new URL("../freshell/page", import.meta.url)),
    sessions: sessionFile({ path: config.sessionsPath, token, log }),
    version: packageVersion(),
    clock: systemClock,
    nowUnixMs: Date.now,
    log,
    hosts: new Set(names),
    origins,
    url: () => url,
  });
  open.surfaces.push(end, close);
  const listener = await listen({
    fetch: app.fetch,
    websocket,
    host,
    port,
    remote: config.allowLan,
    clock: systemClock,
    settings: FRESHELL_SETTINGS,
    log,
  });
  open.surfaces.push(() => listener.close());
  for (const name of names) origins.add(`http://${urlHost(name)}${listener.port === 80 ? "" : `:${listener.port}`}`);
  url = `http://${urlHost(isThisMachine(host) ? host : "127.0.0.1")}:${listener.port}`;
  print(`Freshell listening on ${listener.url}`);
}

/** The host names it serves. */
function namesOf({ host }: FreshellConfig): readonly string[] {
  const own = ["127.0.0.1", "localhost", "::1", host];
  return isThisMachine(host) ? own : [...own, hostname().toLowerCase(), ...lanAddresses()];
}
