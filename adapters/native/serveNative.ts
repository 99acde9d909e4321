/**
 * The native API: an owned tmux server and the user's guest servers behind one application, which listens on a unix socket
 * and a loopback port, or on sockets opened by the service manager. All require the token.
 */
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import type { NativeErrorResponse } from "../../protocol/api/native/nativeResponses.ts";
import { runtimePaths } from "../../daemon/ops/runtimePaths.ts";
import { startOwnedServer } from "../../daemon/servers/owned/ownedServer.ts";
import { openGuestServer } from "../../daemon/servers/guest/guestServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { OnDemand } from "../operations/operation.ts";
import { type AgentlessConnection, openAgentless } from "../remote/agentlessConnection.ts";
import { AgentlessHost, type ServerPlace } from "../remote/agentlessHost.ts";
import { hostPlaces, type HostRecord, readHosts, writeHosts } from "../remote/hostBook.ts";
import { HostLink } from "../remote/hostLink.ts";
import { RemoteHosts } from "../remote/remoteHosts.ts";
import { openSsh } from "../remote/sshConnection.ts";
import { readOrMakeToken } from "../../daemon/ops/tokenFile.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { OWN_SERVER_NAME } from "../../daemon/ops/daemonConfig.ts";
import { isLoopbackAddress } from "../kit/peers/addresses.ts";
import { listen } from "../kit/listeners/listen.ts";
import type { NativeApp } from "./nativeApp.ts";
import { createNativeApp, FORBIDDEN } from "./nativeApp.ts";
import { inheritedDescriptors } from "../serving/inheritedDescriptors.ts";
import { openOwnedServer, type StartContext } from "../serving/startContext.ts";
import type { LocalListener, LocalListenOptions } from "./localListener.ts";
import { listenOnDescriptor, listenOnSocket, requireFreeSocket } from "./localListener.ts";
import { NATIVE_SETTINGS, type NativeConfig } from "./nativeConfig.ts";
import { serverLog } from "../serving/sharedGuests.ts";
import { restartIsOver } from "../serving/restart.ts";
import { userServer } from "../serving/userServer.ts";
import { packageVersion } from "../serving/version.ts";

/** Checked before anything is started, because most starts fail when a daemon is already running. */
export async function requireNoOther(native: NativeConfig, { env }: StartContext): Promise<void> {
  if (inheritedDescriptors(env, process.pid).length === 0) await requireFreeSocket(native.socketPath);
}

/** Starts the native API, the adapters mounted on its listener, or both. @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE */
export async function startNative(native: NativeConfig, context: StartContext): Promise<void> {
  const { only, env, waits, readiness, delivery, agents, agentWork, messages, timeline, notifier, log, open, print } =
    context;
  const descriptors = inheritedDescriptors(env, process.pid);
  const token = await readOrMakeToken(native.tokenPath);
  const { servers, unconfigured } = context;
  if (only.has("native")) await openServers(native, context);
  const recordings = await context.recordings();
  open.surfaces.push(() => recordings.close());
  const remote = only.has("native") ? openHosts(native, context, token) : undefined;
  const mounts = await context.mounts();
  const app = createNativeApp({
    servers,
    ...(remote === undefined ? {} : { onDemand: onDemand(userServer(native, context), remote) }),
    unconfigured,
    waits,
    readiness,
    delivery,
    recordings,
    agents,
    agentWork,
    messages,
    timeline,
    remote,
    notifier,
    restart: (program, drainMs) => context.restart.begin(delivery, program, drainMs),
    running: context.running,
    metrics: context.metrics,
    clock: systemClock,
    log,
    token,
    // Which peers may connect depends on the listener: see `fetchFor`.
    peers: "any",
    hosts: new Set([native.host, ...native.allowedHosts]),
    origins: new Set(native.allowedOrigins),
    version: packageVersion(),
    mounts: mounts.map(({ mount }) => mount),
  });
  open.surfaces.push(() => app.close());
  const options: LocalListenOptions = {
    fetch: (kind) => fetchFor(app, kind, native),
    websocket: app.websocket,
    clock: systemClock,
    log,
  };
  const listeners: LocalListener[] = [];
  const add = (listener: LocalListener): void => {
    open.surfaces.push(() => listener.close());
    listeners.push(listener);
    print(`native API listening on ${listener.url}`);
  };
  for (const fd of descriptors) add(await listenOnDescriptor(fd, options));
  const has = (kind: LocalListener["kind"]): boolean => listeners.some((listener) => listener.kind === kind);
  if (!has("tcp")) add(await listenOnPort(native, context, app));
  if (!has("unix")) add(await listenOnSocket(native.socketPath, options));
  restartIsOver(native.socketPath);
  const tcp = listeners.find((listener) => listener.kind === "tcp");
  if (tcp !== undefined) for (const part of mounts) await part.announce(tcp.url, token);
}

/** Their sockets stand beside the daemon's own, which no other daemon has. @throws AppError CONFIGURATION_INVALID */
function openHosts({ socketPath }: NativeConfig, context: StartContext, token: string): RemoteHosts {
  const { env, servers, machines, notifier, log, open } = context;
  const { hostsPath } = runtimePaths(env, homedir());
  const linkOptions = ({ name, destination, sshConfig, program }: HostRecord) => ({
    name,
    destination,
    configFile: sshConfig,
    program,
    ...hostPlaces(socketPath, name),
    env,
    clock: systemClock,
    nowUnixMs: Date.now,
    onError: (error: unknown) => log.error("hosts.failed", { error }),
  });
  const hosts = new RemoteHosts({
    servers,
    hosts: readHosts(hostsPath),
    save: (records) => writeHosts(hostsPath, records),
    link: (record) => new HostLink({ ...linkOptions(record), open: openSsh }),
    agentless: (record) => {
      // No other daemon has this token and this socket.
      const origin = createHash("sha256")
        .update([token, socketPath, record.name].join("\0"))
        .digest("hex")
        .slice(0, 16);
      const link = new HostLink<AgentlessConnection>({
        ...linkOptions(record),
        open: (options, onLost, signal) => openAgentless(options, origin, onLost, signal),
      });
      return new AgentlessHost({
        record,
        link,
        origin,
        clock: systemClock,
        servers,
        open: (place) => openElsewhere(context, place),
      });
    },
    clock: systemClock,
  });
  const stopTelling = hosts.subscribe((name, { kind }) => {
    // Idle is one that is removed.
    if (kind !== "connecting") notifier.hostChanged(name, kind !== "connected" && kind !== "idle");
  });
  open.surfaces.push(async () => stopTelling());
  hosts.connect();
  machines.current = hosts;
  // Requests that wait for a host are settled by it, as those that wait for tmux are.
  open.servers.push(() => hosts.close());
  return hosts;
}

/** A server of a machine without a daemon. */
async function openElsewhere(
  { env, daemon, log, unconfigured }: StartContext,
  place: ServerPlace,
): Promise<TmuxServer> {
  const { host, name, socketPath, tmux, isOwned } = place;
  const options = {
    host,
    tmux,
    socketPath,
    ringBytes: daemon.ringBytes,
    clock: systemClock,
    log: serverLog(log, name),
  };
  unconfigured.add(name);
  // Nothing of this machine's environment is for a pane there.
  if (isOwned) return startOwnedServer({ ...options, env: {} });
  const { server, listed } = await openGuestServer({ ...options, env });
  await listed;
  return server;
}

/** Servers that are opened when they are named: the user's own, and those of other machines. */
const onDemand = (user: OnDemand, remote: RemoteHosts): OnDemand => ({
  usersServer: user.usersServer,
  reach: (name, whileWaiting) => remote.reach(name, whileWaiting) ?? user.reach(name),
});

/** The servers that are configured, by the names used in paths. */
async function openServers({ tmuxSocketPath }: NativeConfig, context: StartContext): Promise<void> {
  const { servers, guests, daemon } = context;
  const own = { name: OWN_SERVER_NAME, socketPath: tmuxSocketPath, setting: NATIVE_SETTINGS.tmuxSocket };
  servers.set(OWN_SERVER_NAME, await openOwnedServer(context, own));
  for (const { name, socketPath } of daemon.guests) servers.set(name, await guests.at(socketPath, name));
}

async function listenOnPort(native: NativeConfig, { log }: StartContext, app: NativeApp): Promise<LocalListener> {
  const { host, port } = native;
  const listener = await listen({
    fetch: fetchFor(app, "tcp", native),
    host,
    port,
    remote: isForOthers(native),
    websocket: app.websocket,
    clock: systemClock,
    settings: NATIVE_SETTINGS,
    log,
  });
  return { kind: "tcp", url: listener.url, close: () => listener.close() };
}

/** Other machines are served only under host names that the user has configured. */
const isForOthers = ({ allowedHosts }: NativeConfig): boolean => allowedHosts.length > 0;

/** The directory of a unix socket controls who may connect; a port's peers must be on this machine unless others are allowed. */
function fetchFor(
  { app }: NativeApp,
  kind: LocalListener["kind"],
  config: NativeConfig,
): ReturnType<LocalListenOptions["fetch"]> {
  if (kind === "unix" || isForOthers(config)) return (request, env) => app.fetch(request, env);
  return (request, env) =>
    isLoopbackAddress(env.incoming.socket.remoteAddress)
      ? app.fetch(request, env)
      : Response.json({ error: { code: "FORBIDDEN", message: FORBIDDEN.peer } } satisfies NativeErrorResponse, {
          status: 403,
        });
}
