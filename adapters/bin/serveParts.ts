/** What the adapters' starts share: what they are given, and the list of what has to be closed. */
import { homedir } from "node:os";
import { createDelivery, type DeliveryEngine } from "../../daemon/delivery/createDelivery.ts";
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import { openDeliveryStore } from "../../daemon/delivery/deliveryStore.ts";
import type { Config } from "../../daemon/ops/config.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { Log, LogEvent } from "../../daemon/ops/log.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import type { ReadinessEngine } from "../../daemon/readiness/engine.ts";
import { useProfiles } from "../../daemon/readiness/profiles.ts";
import { readUserProfiles } from "../../daemon/readiness/userProfiles.ts";
import { type OpenedGuest, openGuestServer } from "../../daemon/server/guestStartup.ts";
import { startOwnedServer } from "../../daemon/server/ownedServer.ts";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import { systemClock, type Timer } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import { AppError } from "../../protocol/errors.ts";
import { PeerUsers, peersUnknowable } from "../http/peerUsers.ts";
import type { AdapterName } from "./adapterNames.ts";

export interface ServeOptions {
  readonly config: Config;
  readonly only: ReadonlySet<AdapterName>;
  /** Nobody named parts: what cannot start is told, and the rest runs. */
  readonly isEverything: boolean;
  /** The daemon's own environment; what of it reaches a pane is `paneEnvironment`'s choice. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Aborts when it is told to stop: what has not been started then is not. */
  readonly stopping: AbortSignal;
  /** Start-up lines for a person, one per listener. */
  readonly print: (line: string) => void;
}

export interface StartContext extends ServeOptions {
  readonly waits: WaitManager;
  readonly readiness: ReadinessEngine;
  /** One for all surfaces: what they give to a pane comes one after the other. */
  readonly delivery: Delivery;
  readonly open: OpenParts;
  /** Servers that are not ours: one connection to each, whoever asks for it. */
  readonly guests: Guests;
}

type Close = () => Promise<void> | void;

/** A stop lets requests under way finish by themselves for this long: less than the listeners' own grace. */
const FINISH_WITHIN_MS = 600;

/**
 * What is open, by the order in which it ends. `surfaces` take requests: all at once they take no more, end streams and
 * waits, and close once everything under way is answered. What still waits for tmux then is answered by the end of
 * `servers`, and the surfaces have the rest of their grace to write that. `rest` is what all of them write to until then
 * (stores): one after the other, the first one opened last.
 */
export class OpenParts {
  readonly #log: Log;
  readonly surfaces: Close[] = [];
  readonly servers: Close[] = [];
  readonly rest: Close[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** What another has open ends with this one. */
  take({ surfaces, servers, rest }: OpenParts): void {
    this.surfaces.push(...surfaces);
    this.servers.push(...servers);
    this.rest.push(...rest);
  }

  async close(): Promise<void> {
    const answered = this.#all(this.surfaces);
    await within(FINISH_WITHIN_MS, answered);
    await this.#all(this.servers);
    await answered;
    for (const close of this.rest.toReversed()) await this.#all([close]);
  }

  async #all(closes: readonly Close[]): Promise<void> {
    const ended = await Promise.allSettled(closes.map(async (close) => close()));
    for (const result of ended) {
      if (result.status === "rejected") this.#log.error("daemon.stop.failed", { error: result.reason as unknown });
    }
  }
}

/** Resolves with `work`, or when the time is over. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const isOver = new Promise<void>((resolve) => {
    timer = systemClock.callAt(systemClock.nowMs() + ms, resolve);
  });
  await Promise.race([work, isOver]);
  timer?.cancel();
}

/** A tmux server of ours on this socket, closed with the rest. */
export async function openOwnedServer(
  context: StartContext,
  { name, socketPath, setting }: { readonly name: string; readonly socketPath: string; readonly setting: string },
): Promise<TmuxServer> {
  const server = await startOwnedServer({
    socketPath,
    setting,
    env: paneEnvironment(context.env),
    clock: systemClock,
    log: serverLog(context.log, name),
  });
  context.open.servers.push(() => server.close());
  return server;
}

export function openDelivery({ env, log }: ServeOptions, readiness: ReadinessEngine): DeliveryEngine {
  const onMovedAside = (movedTo: string, error: unknown): void =>
    log.error("delivery.store.damaged", { movedTo, error });
  return createDelivery({
    readiness,
    clock: systemClock,
    nowUnixMs: Date.now,
    store: openDeliveryStore({ path: runtimePaths(env, homedir()).deliveriesPath, nowUnixMs: Date.now, onMovedAside }),
    onError: (error) => log.error("delivery.record.failed", { error }),
  });
}

/** A person's own profiles; those that are wrong are said and left out. */
export function openProfiles({ env, log }: ServeOptions): void {
  const own = readUserProfiles(runtimePaths(env, homedir()).profilesPath);
  for (const { file, refused } of own) if (refused !== undefined) log.warn("profile.refused", { file, refused });
  useProfiles(own.flatMap(({ profile }) => (profile === undefined ? [] : [profile])));
}

/** Guests by their socket, opened when first asked for. */
export class Guests {
  readonly #env: ServeOptions["env"];
  readonly #log: Log;
  readonly #parts: OpenParts;
  readonly #guests = new Map<string, Promise<OpenedGuest>>();

  constructor({ env, log }: ServeOptions, parts: OpenParts) {
    this.#env = env;
    this.#log = log;
    this.#parts = parts;
  }

  /** Once it is listed. @throws AppError TMUX_UNAVAILABLE */
  async at(socketPath: string, name: string): Promise<TmuxServer> {
    const { server, listed } = await this.opened(socketPath, name);
    await listed;
    return server;
  }

  /** At once; it may still be connecting. @throws AppError TMUX_UNAVAILABLE */
  opened(socketPath: string, name: string): Promise<OpenedGuest> {
    let guest = this.#guests.get(socketPath);
    if (guest === undefined) {
      guest = this.#open(socketPath, name);
      this.#guests.set(socketPath, guest);
    }
    return guest;
  }

  async #open(socketPath: string, name: string): Promise<OpenedGuest> {
    const guest = await openGuestServer({
      socketPath,
      env: this.#env,
      clock: systemClock,
      log: serverLog(this.#log, name),
    });
    this.#parts.servers.push(() => guest.server.close());
    return guest;
  }
}

/** A server's events with its name on every line. */
export function serverLog(log: Log, server: string): (event: string, fields: object) => void {
  const named = log.with({ server });
  return (event, fields) => named.info(event as LogEvent, { ...fields });
}

/** The listener's rule about users: none when it has a token. @throws AppError CONFIGURATION_INVALID when it would refuse everybody. */
export function peerUsers(
  { config: { allowUids }, log }: StartContext,
  token: string | undefined,
  tokenSetting: string,
): PeerUsers | undefined {
  const problem = peersUnknowable({ allowUids, token, tokenSetting });
  if (problem !== undefined) throw new AppError("CONFIGURATION_INVALID", problem);
  return token === undefined ? new PeerUsers({ allowUids, tokenSetting, log }) : undefined;
}
