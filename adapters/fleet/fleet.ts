/** Servers published on NATS, and calls answered, for as long as this daemon has its host's name there. */
import { randomBytes } from "node:crypto";
import type { Log } from "../../daemon/ops/log.ts";
import type { Metrics } from "../../daemon/ops/metrics.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { within } from "../../daemon/time/within.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { OperationContext } from "../operations/operation.ts";
import { PanePatterns } from "../operations/panes/panePatterns.ts";
import { FleetCalls } from "./fleetCalls.ts";
import type { FleetConfig } from "./fleetConfig.ts";
import { HostClaim } from "./hostClaim.ts";
import type { NatsLink } from "./natsLink.ts";
import { ByteBudget, type PublishObserver } from "./panePublisher.ts";
import { PublishPace } from "./publishPace.ts";
import { ServerPublisher } from "./serverPublisher.ts";

/** How long a stop may take to say that this daemon has ended. */
const LEAVE_MS = 500;

interface FleetOptions {
  readonly config: Omit<FleetConfig, "access" | "publish" | "calls">;
  /** Those that are published, by the names in their subjects. */
  readonly servers: ReadonlyMap<string, TmuxServer>;
  /** For calls; its servers are the published ones. */
  readonly context: OperationContext;
  /** Those that are answered. */
  readonly operations: ReadonlySet<OperationName>;
  /** Closed with the fleet. */
  readonly link: NatsLink;
  readonly readiness: ReadinessWatcher;
  readonly agents: AgentDirectory;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly version: string;
}

export class Fleet {
  readonly #options: FleetOptions;
  readonly #budget: ByteBudget;
  readonly #calls: FleetCalls;
  readonly #observe: PublishObserver;
  #publishers: readonly ServerPublisher[] = [];
  #claim: HostClaim | undefined;

  constructor(options: FleetOptions) {
    const { config, context, link } = options;
    this.#options = options;
    this.#budget = new ByteBudget(config.budgetBytes);
    this.#calls = new FleetCalls(context, () => link.maxPayload);
    this.#observe = this.#collect();
  }

  start(): void {
    const { link, log } = this.#options;
    void this.#run().catch((error: unknown) => {
      if (!link.signal.aborted) log.error("nats.failed", { error });
    });
  }

  async close(): Promise<void> {
    const { link } = this.#options;
    const claim = this.#claim;
    this.#calls.close();
    const leaving = this.#end().then(() => claim?.leave(AbortSignal.any([link.signal, AbortSignal.timeout(LEAVE_MS)])));
    await within<void>(systemClock, LEAVE_MS, undefined, (done) => {
      leaving.catch(() => undefined).finally(done);
    });
    await link.close();
  }

  async #run(): Promise<void> {
    const { config, servers, operations, link, readiness, agents, log, version } = this.#options;
    const { host, retention } = config;
    const instance = randomBytes(8).toString("hex");
    const state = { instance, version, startedUnixMs: Date.now(), servers: [...servers.keys()] };
    for (;;) {
      const streams = await link.streams(host, retention, link.signal);
      const claim = new HostClaim({ link, host, stateStream: streams.state, state, clock: systemClock, log });
      this.#claim = claim;
      await claim.take(link.signal);
      log.info("nats.publishing", { host, servers: state.servers });
      const lost = claim.lost(link.signal);
      const parts = {
        link,
        host,
        instance,
        streams,
        panes: config.panes === undefined ? undefined : new PanePatterns(config.panes),
        refreshMs: retention.ageMs / 2,
        budget: this.#budget,
        pace: new PublishPace(systemClock, config.coalesceMs),
        readiness,
        agents,
        clock: systemClock,
        log,
        mayPublish: (signal: AbortSignal) => claim.isHeld(signal),
        observe: this.#observe,
      };
      this.#publishers = [...servers].map(([name, server]) => new ServerPublisher(parts, name, server));
      const stopAnswering = this.#calls.serve(link, host, operations);
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
    const { metrics, link } = this.#options;
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
