/** The context of every adapter's start, and what most adapters open. */
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { DaemonConfig } from "../../daemon/ops/daemonConfig.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import type { RecordingBook } from "../../daemon/recordings/recordingBook.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Agent } from "../agents/catalogue.ts";
import type { Mount } from "../kit/guard/mount.ts";
import { PeerUsers, peersUnknowable } from "../kit/peers/peerUsers.ts";
import type { OpenParts } from "./openParts.ts";
import { serverLog, type SharedGuests } from "./sharedGuests.ts";

export interface StartContext {
  readonly daemon: DaemonConfig;
  readonly agents: readonly Agent[];
  /** Names of the adapters to be served. */
  readonly only: ReadonlySet<string>;
  /** The daemon's own environment; `paneEnvironment` chooses what a pane inherits. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Start-up lines for a person, one per listener. */
  readonly print: (line: string) => void;
  readonly waits: WaitManager;
  readonly readiness: ReadinessEngine;
  /** Shared by all surfaces, so that a pane's deliveries are serialized. */
  readonly delivery: Delivery;
  readonly open: OpenParts;
  /** Guest servers, with one shared connection to each. */
  readonly guests: SharedGuests;
  /** Shared by all surfaces. Only the native API starts and ends recordings. */
  readonly recordings: () => Promise<RecordingBook>;
  /** Makes the mounts, for the adapter that carries them. */
  readonly mounts: () => Promise<readonly MountedPart[]>;
}

export interface MountedPart {
  readonly mount: Mount;
  /** Called when the listener is open. @throws AppError CONFIGURATION_INVALID if nothing else is served */
  announce(url: string, token: string): Promise<void>;
}

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
    clock: systemClock,
    log: serverLog(context.log, name),
  });
  context.open.servers.push(() => server.close());
  return server;
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
