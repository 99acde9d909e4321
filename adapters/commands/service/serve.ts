/**
 * The daemon: joins the parts and runs them until it is told to stop. A part that cannot start is reported in one line and
 * the others run, unless it was asked for by name. A part first starts what can fail for a reason the user can fix: tmux,
 * certificate, port. Stopping is bounded in time and settles everything pending (`OpenParts`); programs in panes keep
 * running.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { DeliveryEngine } from "../../../daemon/delivery/deliveryEngine.ts";
import { DELIVERY_MIGRATIONS, DeliveryStore } from "../../../daemon/delivery/deliveryStore.ts";
import { requireKnownVersion } from "../../../daemon/ops/sql/database.ts";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import { Metrics } from "../../../daemon/ops/metrics.ts";
import { runtimePaths } from "../../../daemon/ops/runtimePaths.ts";
import { ReadinessEngine } from "../../../daemon/readiness/engine.ts";
import { Profiles } from "../../../daemon/readiness/profiles.ts";
import { localHost } from "../../../daemon/host/localHost.ts";
import { ptyProblem } from "../../../daemon/host/clients/ptyTransport.ts";
import { readUserProfiles } from "../../../daemon/readiness/userProfiles.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../../daemon/time/clock.ts";
import { WaitManager } from "../../../daemon/waits/waitManager.ts";
import { AppError, toAppError } from "../../../protocol/errors.ts";
import { profilesOf } from "../../agents/agentProfiles.ts";
import { loadTranscripts } from "../../agents/agentTranscript.ts";
import { type Agent, readAgents } from "../../agents/catalogue.ts";
import { readChannels, writeChannels } from "../../agents/notify/channelBook.ts";
import { sendHttp } from "../../agents/notify/httpSender.ts";
import { AgentNotifier } from "../../agents/notify/agentNotifier.ts";
import { WebPush } from "../../agents/notify/webPush.ts";
import { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import { AgentMessages } from "../../agents/messages/agentMessages.ts";
import { AgentWork } from "../../agents/start/agentWork.ts";
import { Timeline } from "../../agents/timeline/timeline.ts";
import { noteLeaders } from "../../agents/running/leaders.ts";
import { AGENT_MIGRATIONS, AgentStore } from "../../agents/running/agentStore.ts";
import { readHosts } from "../../remote/hostBook.ts";
import { type AdapterName, ADAPTERS } from "../../adapters.ts";
import { OpenParts } from "../../serving/openParts.ts";
import type { Restart } from "../../serving/restart.ts";
import { SharedGuests } from "../../serving/sharedGuests.ts";
import type { MountedPart, StartContext } from "../../serving/startContext.ts";
import type { Config } from "../connection/configuration.ts";
import { oneLine } from "../../cli/textTable.ts";
import { RecordingRegistry } from "../../../daemon/recordings/recordingRegistry.ts";

export interface Daemon {
  /** Safe to call twice. */
  stop(): Promise<void>;
}

interface ServeOptions {
  readonly config: Config;
  readonly only: ReadonlySet<AdapterName>;
  /** No parts were named: a part that cannot start is reported, and the rest run. */
  readonly isEverything: boolean;
  readonly env: StartContext["env"];
  readonly log: Log;
  /** Aborts when the daemon is told to stop; nothing more is started then. */
  readonly stopping: AbortSignal;
  readonly restart: Restart;
  /** Start-up lines for a person, one per listener. */
  readonly print: (line: string) => void;
}

/** One adapter's listener, with what other adapters mount on it. */
interface Part {
  readonly title: string;
  /** The names of `--only` that the part serves. */
  readonly names: readonly AdapterName[];
  readonly requireFree: (context: StartContext) => Promise<void>;
  readonly start: (context: StartContext) => Promise<void>;
}

interface Failure {
  readonly part: Part;
  readonly error: AppError;
}

/** @throws AppError CONFIGURATION_INVALID, TMUX_UNAVAILABLE, INCONSISTENT_STATE: nothing is left running then. */
export async function startDaemon(options: ServeOptions): Promise<Daemon> {
  const { config, only, env, log, print, restart } = options;
  requireKnownDatabases(env);
  const open = new OpenParts(log);
  const problem = ptyProblem();
  if (problem !== undefined) log.warn("host.pty.missing", { problem });
  let stopping: Promise<void> | undefined;
  try {
    const onListenerError = (error: unknown): void => log.error("wait.listener.failed", { error });
    const waits = new WaitManager({ clock: systemClock, onListenerError });
    open.surfaces.push(() => waits.close());
    const catalogue = readAgents();
    const readiness = new ReadinessEngine({
      profiles: openProfiles(options, catalogue),
      clock: systemClock,
      nowUnixMs: Date.now,
      onError: (error) => log.error("readiness.failed", { error }),
    });
    open.rest.push(() => readiness.close());
    const agents = openAgents(options, catalogue, readiness);
    open.rest.push(() => agents.close());
    const timeline = new Timeline({ agents, clock: systemClock, nowUnixMs: Date.now, log });
    // The agents' database is closed after it.
    open.rest.push(() => timeline.close());
    const delivery = openDelivery(options, readiness, agents, timeline);
    open.surfaces.push(() => delivery.stop());
    open.rest.push(() => delivery.close());
    const { daemon } = config;
    noteLeaders(agents);
    const transcripts = await loadTranscripts(catalogue);
    const agentWork = openAgentWork(options, { agents, catalogue, transcripts, readiness, delivery });
    open.surfaces.push(async () => agentWork.close());
    const messages = new AgentMessages({
      agents,
      delivery,
      waits,
      transcripts: agentWork.transcripts,
      processes: localHost().processes,
      clock: systemClock,
      nowUnixMs: Date.now,
      onError: (error) => log.error("messages.failed", { error }),
    });
    open.surfaces.push(() => messages.close());
    const notifier = openNotifier(options, agents, messages);
    open.surfaces.push(async () => notifier.close());
    const guests = new SharedGuests({ env, log, ringBytes: daemon.ringBytes, open, agents });
    const mounts = async (): Promise<readonly MountedPart[]> => [];
    const recordings = sharedRecordings(env, log);
    const context: StartContext = {
      daemon,
      catalogue,
      agents,
      agentWork,
      messages,
      timeline,
      notifier,
      only,
      env,
      log,
      print,
      metrics: new Metrics(),
      waits,
      readiness,
      delivery,
      restart,
      open,
      guests,
      servers: new Map<string, TmuxServer>(),
      unconfigured: new Set<string>(),
      machines: { current: undefined },
      recordings,
      running: new WeakMap(),
      mounts,
    };
    await startParts(partsOf(options), context, options);
    reportOff(options);
  } catch (error) {
    await open.close();
    throw error;
  }
  return { stop: () => (stopping ??= open.close()) };
}

/** No newer tmuxwire has written them. @throws AppError INCONSISTENT_STATE */
function requireKnownDatabases(env: ServeOptions["env"]): void {
  const { deliveriesPath, agentsPath } = runtimePaths(env, homedir());
  requireKnownVersion(deliveriesPath, DELIVERY_MIGRATIONS);
  requireKnownVersion(agentsPath, AGENT_MIGRATIONS);
}

/** The files that a daemon of these parts would read at its start. @throws AppError INCONSISTENT_STATE, CONFIGURATION_INVALID */
export function requireKnownFiles({ env, only }: Pick<ServeOptions, "env" | "only">): void {
  const { hostsPath, notificationsPath } = runtimePaths(env, homedir());
  requireKnownDatabases(env);
  readChannels(notificationsPath);
  if (only.has("native")) readHosts(hostsPath);
}

/** Reports the adapters that are off and were not asked for by name, and why. */
function reportOff({ config, only, isEverything, print }: ServeOptions): void {
  for (const { name, title } of ADAPTERS) {
    const reason = isEverything && only.has(name) ? config.offBecause(name) : undefined;
    if (reason !== undefined && reason !== "") print(`${title} is not served: ${reason}`);
  }
}

/** The parts to serve, in the order of the start-up lines. */
function partsOf({ config, only: named, isEverything }: ServeOptions): readonly Part[] {
  const only = isEverything ? new Set([...named].filter((name) => config.offBecause(name) === undefined)) : named;
  const mounted = ADAPTERS.filter(
    (one) => one.mount !== undefined && only.has(one.name) && !config.problems.has(one.name),
  );
  return ADAPTERS.flatMap((adapter): Part[] => {
    const { name, title, carriesMounts } = adapter;
    const problem = only.has(name) ? config.problems.get(name) : undefined;
    if (problem !== undefined) {
      const refuse = (): Promise<never> => Promise.reject(problem);
      return [{ title, names: [name], requireFree: refuse, start: refuse }];
    }
    const carried = carriesMounts === true ? mounted : [];
    if (adapter.start === undefined || (!only.has(name) && carried.length === 0)) return [];
    const own = config[name];
    const mountsOf = async (context: StartContext): Promise<readonly MountedPart[]> =>
      Promise.all(carried.flatMap((one) => one.mount?.(config[one.name], context) ?? []));
    return [
      {
        title,
        names: [...(only.has(name) ? [name] : []), ...carried.map((one) => one.name)],
        requireFree: async (context) => adapter.requireFree?.(own, context),
        start: async (context) => adapter.start?.(own, { ...context, mounts: () => mountsOf(context) }),
      },
    ];
  });
}

/** @throws AppError when none starts, or when one asked for by name does not. */
async function startParts(
  parts: readonly Part[],
  context: StartContext,
  { isEverything, log, print, stopping }: ServeOptions,
): Promise<void> {
  // Checked before anything is started, because most starts fail when a daemon is already running.
  const taken = new Map<Part, AppError>();
  for (const part of parts) {
    const error = await failureOf(() => part.requireFree(context));
    if (error !== undefined) taken.set(part, error);
  }
  const failures: Failure[] = [];
  for (const part of parts) {
    if (stopping.aborted) return;
    // Parts asked for by name are served all or none: once one has failed, the others are only checked.
    const isOver = failures.length > 0 && !isEverything;
    const error = taken.get(part) ?? (isOver ? undefined : await failureOf(() => startPart(part, context)));
    if (error !== undefined) failures.push({ part, error });
  }
  const [first, ...others] = failures;
  if (first === undefined) return;
  if (!isEverything || failures.length === parts.length) throw new NotServed([first, ...others]);
  for (const failure of failures) {
    log.error("daemon.part.failed", { part: failure.part.names.join(","), error: failure.error });
    print(notServed(failure));
  }
}

/** When a part fails, what it has opened is closed at once. */
async function startPart(part: Part, context: StartContext): Promise<void> {
  const open = new OpenParts(context.log);
  try {
    await part.start({ ...context, open });
  } catch (error) {
    await open.close();
    throw error;
  }
  context.open.take(open);
}

async function failureOf(start: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await start();
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

/** The parts that could not be started, one line each. */
export class NotServed extends AppError {
  readonly lines: readonly string[];

  constructor(failures: readonly [Failure, ...Failure[]]) {
    const lines = failures.map(notServed);
    super(failures[0].error.code, lines.join("; "), { cause: failures[0].error });
    this.lines = lines;
  }
}

const notServed = ({ part, error }: Failure): string => `${part.title} is not served: ${oneLine(error.message)}`;

function openDelivery(
  { env, log }: ServeOptions,
  readiness: ReadinessEngine,
  agents: AgentDirectory,
  timeline: Timeline,
): DeliveryEngine {
  const onMovedAside = (movedTo: string, error: unknown): void =>
    log.error("delivery.store.damaged", { movedTo, error });
  return new DeliveryEngine({
    readiness,
    clock: systemClock,
    nowUnixMs: Date.now,
    store: new DeliveryStore({ path: runtimePaths(env, homedir()).deliveriesPath, nowUnixMs: Date.now, onMovedAside }),
    onTaken: ({ server, pane, text, process }) => agents.took(server, pane, text, process),
    onTyping: (typing) => timeline.typing(typing),
    onError: (error) => log.error("delivery.record.failed", { error }),
  });
}

function openAgents(
  { env, log }: ServeOptions,
  catalogue: readonly Agent[],
  readiness: ReadinessEngine,
): AgentDirectory {
  return new AgentDirectory({
    catalogue,
    readiness,
    store: new AgentStore({ path: runtimePaths(env, homedir()).agentsPath, nowUnixMs: Date.now, log }),
    clock: systemClock,
    nowUnixMs: Date.now,
    onError: (error) => log.error("agents.failed", { error }),
  });
}

/** @throws AppError CONFIGURATION_INVALID */
function openNotifier({ env, log }: ServeOptions, agents: AgentDirectory, messages: AgentMessages): AgentNotifier {
  const { notificationsPath, pushKeysPath } = runtimePaths(env, homedir());
  return new AgentNotifier({
    agents,
    webPush: new WebPush(pushKeysPath),
    channels: readChannels(notificationsPath),
    save: (channels) => writeChannels(notificationsPath, channels),
    stalled: (agent, stalledSec, signal) =>
      messages.reached(agent, { for: ["stalled"], stalledSec, timeoutMs: MAX_TURN_MS, signal }),
    isBeingEnded: (agent) => messages.isHeld(agent),
    send: sendHttp,
    clock: systemClock,
    nowUnixMs: Date.now,
    log,
  });
}

/** A turn that lasts longer is not watched to its end. */
const MAX_TURN_MS = 7 * 86_400_000;

function openAgentWork(
  { env, log }: ServeOptions,
  parts: Pick<
    ConstructorParameters<typeof AgentWork>[0],
    "agents" | "catalogue" | "transcripts" | "readiness" | "delivery"
  >,
): AgentWork {
  const { stateDir } = runtimePaths(env, homedir());
  return new AgentWork({
    ...parts,
    paneEnvironment: paneEnvironment(env),
    worktreesDirectory: join(stateDir, "worktrees"),
    clock: systemClock,
    nowUnixMs: Date.now,
    log,
  });
}

/** The agents' and the user's own profiles; invalid ones of these are reported and skipped. */
function openProfiles({ env, log }: ServeOptions, agents: readonly Agent[]): Profiles {
  const own = readUserProfiles(runtimePaths(env, homedir()).profilesPath);
  for (const { file, refused } of own) if (refused !== undefined) log.warn("profile.refused", { file, refused });
  return new Profiles(
    profilesOf(agents),
    own.flatMap(({ profile }) => profile ?? []),
  );
}

/** The daemon's recordings, opened once by the first part that serves them; that repairs what an earlier daemon left. */
function sharedRecordings(
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
): () => Promise<RecordingRegistry> {
  let opened: Promise<RecordingRegistry> | undefined;
  return () => {
    const folder = runtimePaths(env, homedir()).recordingsPath;
    opened ??= RecordingRegistry.open({ folder, clock: systemClock, nowUnixMs: Date.now, log });
    return opened;
  };
}
