/** Publishes servers of this daemon on NATS, and answers calls, for as long as the daemon has its host's name there. */
import { randomBytes } from "node:crypto";
import { systemClock } from "../../daemon/time/clock.ts";
import { within } from "../../daemon/time/within.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import { PanePatterns } from "../operations/panePatterns.ts";
import { operationsOn } from "../serving/operationContext.ts";
import type { StartContext } from "../serving/startContext.ts";
import { userServer } from "../serving/userServer.ts";
import { packageVersion } from "../serving/version.ts";
import { callableOperations, FleetCalls } from "./fleetCalls.ts";
import { type FleetConfig, NATS_SETTINGS } from "./fleetConfig.ts";
import { HostClaim } from "./hostClaim.ts";
import { connectNats } from "./natsConnection.ts";
import { NatsLink } from "./natsLink.ts";
import { ByteBudget, type PublishObserver } from "./panePublisher.ts";
import { ServerPublisher } from "./serverPublisher.ts";

/** How long a stop may take to say that this daemon has ended. */
const LEAVE_MS = 500;

/** Does not wait for NATS. @throws AppError CONFIGURATION_INVALID, NOT_FOUND, FORBIDDEN */
export async function startFleet(config: FleetConfig, context: StartContext): Promise<void> {
  const { access, host } = config;
  if (access === undefined) {
    if (context.daemon.wanted.has("nats")) {
      throw new AppError("CONFIGURATION_INVALID", `name the NATS servers with ${NATS_SETTINGS.servers}`);
    }
    return;
  }
  const servers = new Map<string, TmuxServer>();
  for (const name of config.publish) servers.set(name, await serverNamed(name, context));
  const operations = callableOperations(config.calls);
  const connecting = connectNats(access, { name: `tmuxwire ${host}`, waits: true });
  const fleet = new Fleet({
    config,
    context,
    servers,
    operations,
    link: new NatsLink({ connecting, clock: systemClock, log: context.log }),
  });
  context.open.surfaces.push(() => fleet.close());
  fleet.start();
  const what = config.publish.length === 0 ? "nothing" : config.publish.join(", ");
  context.print(`publishing ${what} as ${host} on NATS at ${access.servers.join(", ")}`);
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

interface FleetOptions {
  readonly config: FleetConfig;
  readonly context: StartContext;
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly operations: ReturnType<typeof callableOperations>;
  readonly link: NatsLink;
}

class Fleet {
  readonly #options: FleetOptions;
  readonly #budget: ByteBudget;
  readonly #calls: FleetCalls;
  readonly #observe: PublishObserver;
  #publishers: readonly ServerPublisher[] = [];
  #claim: HostClaim | undefined;

  constructor(options: FleetOptions) {
    const { config, context, servers, link } = options;
    this.#options = options;
    this.#budget = new ByteBudget(config.budgetBytes);
    this.#calls = new FleetCalls(
      operationsOn(() => servers, context),
      () => link.maxPayload,
    );
    this.#observe = this.#collect();
  }

  start(): void {
    const { link, context } = this.#options;
    void this.#run().catch((error: unknown) => {
      if (!link.signal.aborted) context.log.error("nats.failed", { error });
    });
  }

  async close(): Promise<void> {
    const { link } = this.#options;
    const claim = this.#claim;
    this.#calls.close();
    const leaving = this.#end().then(() => claim?.leave(AbortSignal.any([link.signal, AbortSignal.timeout(LEAVE_MS)])));
    await within<void>(
      systemClock,
      LEAVE_MS,
      undefined,
      (done) => void leaving.catch(() => undefined).then(() => done()),
    );
    await link.close();
  }

  async #run(): Promise<void> {
    const { config, context, servers, operations, link } = this.#options;
    const { host, retention } = config;
    const { log } = context;
    const streams = await link.streams(host, retention, link.signal);
    const instance = randomBytes(8).toString("hex");
    const state = { instance, version: packageVersion(), startedUnixMs: Date.now(), servers: [...servers.keys()] };
    const claim = new HostClaim({ link, host, stateStream: streams.state, state, clock: systemClock, log });
    this.#claim = claim;
    for (;;) {
      await claim.take(link.signal);
      log.info("nats.publishing", { host, servers: state.servers });
      const lost = claim.lost(link.signal);
      const parts = {
        ...config,
        link,
        host,
        instance,
        streams,
        panes: config.panes === undefined ? undefined : new PanePatterns(config.panes),
        refreshMs: retention.ageMs / 2,
        budget: this.#budget,
        readiness: context.readiness,
        agents: context.agents,
        clock: systemClock,
        log,
        mayPublish: (signal: AbortSignal) => claim.isHeld(signal),
        observe: this.#observe,
      };
      this.#publishers = [...servers].map(([name, server]) => new ServerPublisher(parts, name, server));
      const stopAnswering = this.#calls.serve(await link.connection(link.signal), host, operations);
      try {
        await Promise.all([lost, ...this.#publishers.map((publisher) => publisher.start())]);
      } finally {
        stopAnswering();
        await this.#end();
      }
    }
  }

  async #end(): Promise<void> {
    const publishers = this.#publishers;
    this.#publishers = [];
    await Promise.all(publishers.map((publisher) => publisher.close()));
  }

  #collect(): PublishObserver {
    const { context, link } = this.#options;
    const { metrics } = context;
    const messages = metrics.counter("tmuxwire_nats_messages_total", "Messages that NATS has stored.");
    const bytes = metrics.counter("tmuxwire_nats_bytes_total", "Bytes of output and screens that NATS has stored.");
    const gaps = metrics.counter("tmuxwire_nats_gaps_total", "Gaps that were published.");
    metrics.collect("tmuxwire_nats_connected", "gauge", "1 while NATS is connected.", () => [
      { value: link.state.connected ? 1 : 0 },
    ]);
    metrics.collect("tmuxwire_nats_refused", "gauge", "1 while NATS stores nothing although it is connected.", () => [
      { value: link.state.problem === undefined ? 0 : 1 },
    ]);
    metrics.collect("tmuxwire_nats_host_taken", "gauge", "1 while another daemon publishes as this host.", () => [
      { value: this.#claim?.otherHolder === undefined ? 0 : 1 },
    ]);
    metrics.collect("tmuxwire_nats_pending_bytes", "gauge", "Bytes on their way to NATS.", () => [
      { value: this.#budget.used },
    ]);
    metrics.collect("tmuxwire_nats_panes", "gauge", "Panes that are published.", () => [
      { value: this.#publishers.reduce((sum, { paneCount }) => sum + paneCount, 0) },
    ]);
    return {
      stored: (length) => {
        messages.add(1);
        bytes.add(length);
      },
      gap: () => gaps.add(1),
    };
  }
}
