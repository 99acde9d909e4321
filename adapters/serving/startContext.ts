/** The context of every adapter's start, and what most adapters open. */
import { join } from "node:path";
import type { DeliveryEngine } from "../../daemon/delivery/deliveryEngine.ts";
import type { DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { Metrics } from "../../daemon/ops/metrics.ts";
import type { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import type { RecordingRegistry } from "../../daemon/recordings/recordingRegistry.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { Agent } from "../agents/catalogue.ts";
import type { Timeline } from "../agents/timeline/timeline.ts";
import type { AgentMessages } from "../agents/messages/agentMessages.ts";
import type { AgentNotifier } from "../agents/notify/agentNotifier.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { AgentWork } from "../agents/start/agentWork.ts";
import type { Mount } from "../kit/guard/routes.ts";
import type { OtherMachines } from "../kit/streams/otherMachines.ts";
import { PeerUsers, peersUnknowable } from "../kit/peers/peerUsers.ts";
import type { OpenParts } from "./openParts.ts";
import type { Restart } from "./restart.ts";
import { serverLog, type SharedGuests } from "./sharedGuests.ts";

export interface StartContext {
  readonly daemon: DaemonConfig;
  /** Every agent that is known of. */
  readonly catalogue: readonly Agent[];
  /** Those that run. */
  readonly agents: AgentDirectory;
  readonly agentWork: AgentWork;
  /** What they are told. */
  readonly messages: AgentMessages;
  readonly timeline: Timeline;
  /** What people are told outside of pages. */
  readonly notifier: AgentNotifier;
  /** Names of the adapters to be served. */
  readonly only: ReadonlySet<string>;
  /** The daemon's own environment; `paneEnvironment` chooses what a pane inherits. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Start-up lines for a person, one per listener. */
  readonly print: (line: string) => void;
  /** The process's one registry. */
  readonly metrics: Metrics;
  readonly waits: WaitManager;
  readonly readiness: ReadinessEngine;
  /** Shared by all surfaces, so that a pane's deliveries are serialized. */
  readonly delivery: DeliveryEngine;
  /** Another daemon in this one's place. */
  readonly restart: Restart;
  readonly open: OpenParts;
  /** Guest servers, with one shared connection to each. */
  readonly guests: SharedGuests;
  /** By their names in the native API's paths: its own, and those of other contracts while these are connected. */
  readonly servers: Map<string, TmuxServer>;
  /** Names of those that no configuration names: a request opened them. */
  readonly unconfigured: Set<string>;
  /** The other machines, once the native API serves them. */
  readonly machines: { current: OtherMachines | undefined };
  /** Shared by all surfaces. Only the native API starts and ends recordings. */
  readonly recordings: () => Promise<RecordingRegistry>;
  /** The panes in which a `run` is active, by server. */
  readonly running: WeakMap<TmuxServer, Set<PaneId>>;
  /** Makes the mounts, for the adapter that carries them. */
  readonly mounts: () => Promise<readonly MountedPart[]>;
}

export interface MountedPart {
  readonly mount: Mount;
  /** Called when the listener is open. @throws AppError CONFIGURATION_INVALID if nothing else is served */
  announce(url: string, token: string): Promise<void>;
}

/** The scripts are beside the programs, too (`bundlePrograms.mjs`). */
const SHELL_MARKS = join(import.meta.dirname, "../../daemon/shell/tmuxwire-marks");

/** Opens an owned server on this socket, to be closed with the rest. */
export async function openOwnedServer(
  context: StartContext,
  { name, socketPath, setting }: { readonly name: string; readonly socketPath: string; readonly setting: string },
): Promise<TmuxServer> {
  const server = await startOwnedServer({
    socketPath,
    setting,
    env: paneEnvironment(context.env),
    ringBytes: context.daemon.ringBytes,
    shellMarks: context.daemon.shellMarks ? SHELL_MARKS : undefined,
    clock: systemClock,
    log: serverLog(context.log, name),
  });
  context.open.servers.push(() => server.close());
  context.agents.addServer(name, server);
  return server;
}

/** Adds a server that no configuration names to the native API's and to those whose agents are known. Returns the removal. */
export function serveUnconfigured(
  { servers, unconfigured, agents }: Pick<StartContext, "servers" | "unconfigured" | "agents">,
  wanted: string,
  server: TmuxServer,
): () => void {
  let name = wanted;
  for (let number = 2; servers.has(name); number += 1) name = `${wanted}-${number}`;
  servers.set(name, server);
  unconfigured.add(name);
  const removeAgents = agents.addServer(name, server);
  return () => {
    servers.delete(name);
    unconfigured.delete(name);
    removeAgents();
  };
}

/** The listener's rule about users; none if it has a token. @throws AppError CONFIGURATION_INVALID if it would refuse everyone. */
export function peerUsers(
  { daemon: { allowUids }, log }: StartContext,
  token: string | undefined,
  tokenSetting: string,
): PeerUsers | undefined {
  const problem = peersUnknowable({ allowUids, token, tokenSetting });
  if (problem !== undefined) throw new AppError("CONFIGURATION_INVALID", problem);
  return token === undefined ? new PeerUsers({ allowUids, tokenSetting, log }) : undefined;
}
