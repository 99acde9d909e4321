/** A tmux server that is published on NATS, in this process: what a daemon does with `--nats` and `--publish`. */
import { DiscardPolicy } from "@nats-io/jetstream";
import { silentLog } from "../../../bench/silentLog.ts";
import { Fleet } from "../../../adapters/fleet/fleet.ts";
import { callableOperations } from "../../../adapters/fleet/fleetCalls.ts";
import type { NatsAccess } from "../../../adapters/fleet/fleetConfig.ts";
import { connectNats } from "../../../adapters/fleet/natsConnection.ts";
import { NatsLink } from "../../../adapters/fleet/natsLink.ts";
import type { OperationContext } from "../../../adapters/operations/operation.ts";
import { Metrics } from "../../../daemon/ops/metrics.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { runCommand } from "../../../daemon/shell/runCommand.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { WaitManager } from "../../../daemon/waits/waitManager.ts";
import { engines } from "../agents/agentsEngines.ts";
import { noAgents } from "./nativeServer.ts";

type FleetSettings = ConstructorParameters<typeof Fleet>[0]["config"];

export interface PublishOptions extends Partial<FleetSettings> {
  readonly calls?: readonly string[];
  readonly log?: Log;
  readonly access?: Partial<NatsAccess>;
}

export interface Publishing extends AsyncDisposable {
  readonly metrics: Metrics;
  readonly link: NatsLink;
}

/** A stream of somebody else's making, which refuses what it has no room for. */
export const STREAM_OF_OTHERS = {
  name: "OURS",
  subjects: ["tmuxwire.box.*.*.out"],
  allow_direct: true,
  republish: { src: "tmuxwire.box.*.*.out", dest: "tmuxwire.box.{{wildcard(1)}}.{{wildcard(2)}}.live" },
  discard: DiscardPolicy.New,
};

/** Settings of the connection without any credentials. */
export const NO_ACCESS = {
  user: undefined,
  password: undefined,
  token: undefined,
  credentialsPath: undefined,
  nkeyPath: undefined,
  tls: { caPath: undefined, certificatePath: undefined, keyPath: undefined },
  domain: undefined,
};

export function publish(urls: readonly string[], server: TmuxServer, options: PublishOptions = {}): Publishing {
  const { calls = [], log = silentLog, access = {}, ...settings } = options;
  const config: FleetSettings = {
    host: "box",
    panes: undefined,
    coalesceMs: 20,
    budgetBytes: 33_554_432,
    retention: { ageMs: 3_600_000, bytes: 268_435_456, replicas: 1 },
    ...settings,
  };
  const servers = new Map([["main", server]]);
  const waits = new WaitManager({ clock: systemClock });
  const parts = engines();
  const link = new NatsLink({
    domain: access.domain,
    connect: () => connectNats({ ...NO_ACCESS, ...splitUser(urls), ...access }, "test"),
    clock: systemClock,
    log,
  });
  const metrics = new Metrics();
  const context: OperationContext = {
    servers,
    waits,
    readiness: parts.readiness,
    delivery: parts.delivery,
    agents: undefined,
    agentWork: undefined,
    messages: undefined,
    recordings: undefined,
    remote: undefined,
    notifier: undefined,
    running: new WeakMap(),
    runCommand,
    clock: systemClock,
    measure: async (_operation, work) => work(),
    treeOf: () => {
      throw new Error("no tree");
    },
  };
  const fleet = new Fleet({
    config,
    servers,
    context,
    operations: callableOperations(calls),
    link,
    readiness: parts.readiness,
    agents: Object.assign(Object.create(noAgents) as typeof noAgents, { subscribe: () => () => undefined }),
    metrics,
    log,
    version: "0",
  });
  fleet.start();
  return {
    metrics,
    link,
    [Symbol.asyncDispose]: async () => {
      await fleet.close();
      waits.close();
      parts[Symbol.dispose]();
    },
  };
}

/** As the settings have it. */
function splitUser(urls: readonly string[]): Pick<NatsAccess, "servers" | "user" | "password"> {
  const { username, password } = new URL(urls[0] ?? "");
  const servers = urls.map((url) => url.replace(/\/\/.*@/, "//"));
  return { servers, user: username === "" ? undefined : username, password: password === "" ? undefined : password };
}
