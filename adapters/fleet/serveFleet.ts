/** Starts the publishing of servers of this daemon, by its settings. */
import { systemClock } from "../../daemon/time/clock.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import { operationsOn } from "../serving/operationContext.ts";
import type { StartContext } from "../serving/startContext.ts";
import { userServer } from "../serving/userServer.ts";
import { packageVersion } from "../serving/version.ts";
import { Fleet } from "./fleet.ts";
import { callableOperations } from "./fleetCalls.ts";
import { type FleetConfig, NATS_SETTINGS } from "./fleetConfig.ts";
import { connectNats, requireNatsFiles } from "./natsConnection.ts";
import { NatsLink } from "./natsLink.ts";

/** Does not wait for NATS. @throws AppError CONFIGURATION_INVALID, NOT_FOUND, FORBIDDEN */
export async function startFleet(config: FleetConfig, context: StartContext): Promise<void> {
  const { access, host, publish } = config;
  if (access === undefined || publish.length === 0) {
    const wanted = access === undefined ? NATS_SETTINGS.servers : NATS_SETTINGS.publish;
    throw new AppError("CONFIGURATION_INVALID", `NATS needs ${wanted}`);
  }
  requireNatsFiles(access);
  const servers = new Map<string, TmuxServer>();
  for (const name of publish) servers.set(name, await serverNamed(name, context));
  const { readiness, agents, metrics, log, open, print } = context;
  const fleet = new Fleet({
    config,
    servers,
    operations: callableOperations(config.calls),
    context: operationsOn(() => servers, context),
    link: new NatsLink({
      domain: access.domain,
      connect: () => connectNats(access, `tmuxwire ${host}`),
      clock: systemClock,
      log,
    }),
    readiness,
    agents,
    metrics,
    log,
    version: packageVersion(),
  });
  open.surfaces.push(() => fleet.close());
  fleet.start();
  print(`publishing ${publish.join(", ")} as ${host} on NATS at ${access.servers.join(", ")}`);
}

/** @throws AppError NOT_FOUND, FORBIDDEN */
async function serverNamed(name: string, context: StartContext): Promise<TmuxServer> {
  await userServer({ offersDefault: true }, context).reach(name);
  const server = context.servers.get(name);
  if (server !== undefined) return server;
  const known = [...context.servers.keys()].join(", ");
  throw new AppError(
    "NOT_FOUND",
    `${NATS_SETTINGS.publish} names ${JSON.stringify(name)}, which is none of ${known}, default`,
  );
}
