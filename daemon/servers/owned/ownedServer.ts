/**
 * Our own tmux server behind the `TmuxServer` interface: one supervised control connection attached to the hub, the inventory
 * that its notifications keep up to date, and every pane's stream and input queue. Everything except start-up and
 * reconnecting uses that connection; no operation starts a process.
 */
import {
  type JustMade,
  endingInNextTurn,
  killSession,
  killWindowOnlyIn,
  resizeWindow,
  setWindowOption,
  writeNothingAtExit,
} from "../../../protocol/command/build.ts";
import { AppError, shuttingDown } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import { DEFAULT_RING_BYTES, GUEST_ATTACH_WITHIN_MS, HISTORY_LIMIT_LINES } from "../../../protocol/limits.ts";
import { ControlConnection } from "../../connection/controlConnection.ts";
import { createNonce } from "../../connection/framing.ts";
import { ServerProgram } from "../../connection/serverProgram.ts";
import { Supervisor } from "../../connection/supervisor.ts";
import { probeTmuxVersion } from "../../connection/tmuxVersion.ts";
import type { HeldServer } from "../../host/clients/holdServer.ts";
import type { Host } from "../../host/host.ts";
import type { OpenTransport } from "../../host/clients/transport.ts";
import { localHost } from "../../host/localHost.ts";
import { SECRET_VARIABLES } from "../../ops/environment.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import { within } from "../../time/within.ts";
import { isWaiting } from "../processState.ts";
import { attachArguments, HUB_PREFIX } from "./hub.ts";
import { prepareHub } from "./hubStartup.ts";
import { type ClientSpawn, controlClient, introductionTo, type ProbedServer } from "../introduction.ts";
import type { InventoryStore } from "../inventory/inventoryStore.ts";
import { OwnedInventory } from "./ownedInventory.ts";
import { CaptureFiles } from "../../panes/captureFiles.ts";
import { PaneStream } from "../../panes/paneStream.ts";
import { PaneRegistry } from "../paneRegistry.ts";
import { requirePane } from "../layout/layoutTargets.ts";
import { RealServer, type ServerOptions } from "../realServer.ts";
import type { SessionToMake } from "../sessionMaking.ts";
import { requireSize, sessionGone } from "../sessionRules.ts";
import { attachedToAll, SilentChanges } from "../inventory/silentChanges.ts";
import { isForShell } from "./shellMarks.ts";
import { SocketKeeper } from "./socketKeeper.ts";
import type { CreateSession, PaneInfo, ServerCounters, ServerStatus } from "../../tmux/inventory.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";
import { ignoreRefusal } from "../../connection/commandQueue.ts";
import { withGracePeriod } from "../gracePeriod.ts";
import { userOptionsOf } from "../paneUserOptions.ts";

export interface OwnedServerOptions extends ServerOptions {
  /** Absolute; a missing directory is created with mode 0700. */
  readonly socketPath: string;
  /** The name of that setting, for messages. */
  readonly setting?: string | undefined;
  /** The whole environment of the server, and so of its panes (`paneEnvironment`). */
  readonly env: Readonly<Record<string, string>>;
  readonly historyLines?: number | undefined;
  /** The folder of the scripts that make its shells mark their commands (`shellMarks.ts`). Absent: they do not. */
  readonly shellMarks?: string | undefined;
  /** Further server options, set on every connection; those that this tmux does not have are skipped. */
  readonly serverOptions?: Readonly<Record<string, string>> | undefined;
}

/** Of a session's window, unless the request says otherwise. */
const [DEFAULT_COLS, DEFAULT_ROWS] = [80, 24];

const ignoreOutcome = (): void => undefined;

const NOT_RUNNING: ProbedServer = { version: "", introduction: "calm" };

/** Letters and digits only: safe in a tmux name, pattern and target. */
const randomName = (chars: number): string => createNonce().slice(0, chars);

/**
 * Starts or finds the server, attaches and lists everything.
 * @throws AppError TMUX_UNAVAILABLE, CONFIGURATION_INVALID, INCONSISTENT_STATE
 */
export async function startOwnedServer(options: OwnedServerOptions): Promise<TmuxServer> {
  const { socketPath, env, host = localHost() } = options;
  await host.sockets.prepare(socketPath, { setting: options.setting, isStickyWell: true });
  const tmuxVersion = await probeTmuxVersion(options.tmux ?? "tmux", env, host.clients.run);
  const clash = await new ServerProgram(host).clash({ socketPath, ours: tmuxVersion, env });
  if (clash !== undefined) throw clash;
  const server = new OwnedServer(options, host, tmuxVersion);
  await server.start();
  return server;
}

class OwnedServer extends RealServer {
  readonly #options: OwnedServerOptions;
  readonly #tmuxVersion: string;
  readonly #supervisor: Supervisor;
  readonly #panes: PaneRegistry;
  readonly #keeper: OwnedInventory;
  readonly #socket: SocketKeeper;
  readonly #silent = new SilentChanges(() => this.connection(), {
    format: attachedToAll,
    places: () => this.#keeper.guard.places,
  });
  #hubName = "";
  #running = NOT_RUNNING;
  /** Of the server that was started for the connection: its sessions keep it from then on. */
  #release: () => void = ignoreOutcome;
  #buffers = 0;

  constructor(options: OwnedServerOptions, host: Host, tmuxVersion: string) {
    super(options, host);
    this.#options = options;
    this.#tmuxVersion = tmuxVersion;
    const { clock, log, socketPath } = options;
    const connection = (): ControlConnection => this.connection();
    this.#supervisor = new Supervisor({
      clock,
      open: () => this.#open(),
      prepare: (fresh) => this.#prepare(fresh),
      heartbeatMs: options.heartbeatMs,
      checkup: () => this.#keeper.checkup(),
      onBeat: () => {
        this.#keeper.heartbeat();
        this.#socket.probe();
      },
      isServerIdle: () => isWaiting(host.processes, this.#keeper.serverPid),
      onState: (state) => {
        if (state === "ready") this.#keeper.refresher.resume();
        this.#keeper.emit([{ kind: "state", state }]);
      },
      onEvent: (event, details) => log?.(event, details),
    });
    this.#panes = new PaneRegistry({
      retainBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      clock,
      connection,
      bufferName: () => `tmuxwire-${this.#panes.epoch}-${(this.#buffers += 1)}`,
      captureFiles: CaptureFiles.in(host.memory(), host.processes),
      onListenerError: this.onListenerError,
      onRevived: (pane) => this.#keeper.paneChanged(pane),
      makeStream: (stream) => new PaneStream(stream),
    });
    this.#socket = new SocketKeeper({ host, socketPath, clock, log });
    this.#keeper = new OwnedInventory({
      host,
      clock,
      log,
      connection,
      panes: this.#panes,
      listeners: this.listeners,
      onComplete: () => this.layout.changed(),
      onLate: () => this.#supervisor.doubt(),
    });
  }

  get inventory(): InventoryStore {
    return this.#keeper.inventory;
  }

  start(): Promise<void> {
    return this.#supervisor.start();
  }

  async check(): Promise<ServerStatus> {
    await this.#supervisor.check();
    return this.status();
  }

  status(): ServerStatus {
    return {
      kind: "owned",
      state: this.#supervisor.state,
      tmuxVersion: this.#tmuxVersion,
      socketPath: this.#options.socketPath,
      epoch: this.#panes.epoch,
      identity: this.#keeper.identity,
    };
  }

  connection(): ControlConnection {
    return this.#supervisor.connection();
  }

  /** The inventory stays valid while there is no connection. */
  requireKnown(): void {}

  protected sessionToMake(request: CreateSession, keep: boolean): SessionToMake {
    const { name, cwd, environment, windowName, command, cols = DEFAULT_COLS, rows = DEFAULT_ROWS } = request;
    const hasGrace = keep && request.direct !== true;
    const keepIt = keep ? [(made: JustMade) => setWindowOption(made, "remain-on-exit", "on")] : [];
    // A caller that asks for `direct` reads tmux's own note at the program's end (docs/contracts/team.md).
    if (hasGrace) keepIt.push(writeNothingAtExit);
    return {
      name,
      cwd,
      command: hasGrace && command !== undefined ? withGracePeriod(command) : command,
      environment,
      windowName,
      cols,
      rows,
      setUp: [...keepIt, ...userOptionsOf(request)],
    };
  }

  async killSession(session: SessionId): Promise<void> {
    const connection = this.connection();
    const { inventory, refresher } = this.#keeper;
    const { name: hub } = this.#keeper.requireHub();
    if (inventory.session(session) === undefined) throw sessionGone(session);
    const windows = inventory.windowsOnlyIn(session);
    await Promise.all(
      [
        connection.group(endingInNextTurn(killSession(session))),
        // The hub still holds them (docs/tmuxFacts.md 16, 30). By now one may be in another session as well, which keeps it.
        ...windows.map((window) => connection.group(killWindowOnlyIn(window, hub))),
        // Somebody else may have been faster.
      ].map((done) => done.then(ignoreOutcome, ignoreRefusal)),
    );
    await refresher.refresh();
  }

  list(windows: readonly WindowId[]): Promise<void> {
    return this.#keeper.refresher.list(windows);
  }

  /** Nothing to do: our client is in the hub, which stays. */
  async ending(_sessions: readonly SessionId[], end: () => Promise<unknown>): Promise<void> {
    await end();
    await this.#keeper.refresher.refresh();
  }

  override starting<T>(command: readonly string[] | undefined, make: () => Promise<T>): Promise<T> {
    const connection = this.connection();
    const { show, hide } = this.#keeper.requireHub().marks;
    if (command === undefined || show.length === 0 || isForShell(command)) return make();
    // Sent in one turn, so nobody's shell starts in between; a connection that is lost is prepared again.
    connection.sendGroup(hide, ignoreOutcome);
    const made = make();
    connection.sendGroup(show, ignoreOutcome);
    return made;
  }

  protected follow(isFollowed: boolean): void {
    this.#silent.follow(isFollowed);
  }

  async resize(pane: PaneId, cols: number, rows: number): Promise<void> {
    const { window } = requirePane(this, pane);
    requireSize(cols, rows);
    await this.connection().command(resizeWindow(window, cols, rows), "none");
    await this.#keeper.refresher.refresh();
  }

  protected use<T>(_pane: PaneInfo, work: (panes: PaneRegistry) => Promise<T>): Promise<T> {
    return work(this.#panes);
  }

  output(pane: PaneId): OutputSource {
    const { exit } = requirePane(this, pane);
    const stream = this.#panes.stream(pane);
    // The stream may belong to a later epoch than the exit.
    if (exit !== undefined) stream.declareExit(exit);
    return stream;
  }

  counters(): ServerCounters {
    return this.#panes.counters();
  }

  /** Disconnects: panes and programs stay; the hub is removed, and an empty server with it. */
  protected leave(): void {
    this.#supervisor.close();
    this.#panes.beginEpoch("", shuttingDown());
    this.#keeper.close();
    this.#socket.detached();
  }

  async #open(): Promise<ControlConnection> {
    await this.#socket.restore();
    const { transport, historyLines = HISTORY_LIMIT_LINES, serverOptions = {} } = this.#options;
    this.#hubName = `${HUB_PREFIX}${randomName(12)}`;
    this.#panes.beginEpoch(randomName(10), new AppError("CONNECTION_LOST", "the connection to tmux was replaced"));
    const hub = attachArguments(this.#hubName, historyLines, serverOptions);
    const held = await this.#hold();
    this.#release = held?.release ?? ignoreOutcome;
    this.#running =
      held === undefined ? NOT_RUNNING : { version: held.version, introduction: introductionTo(held.version, true) };
    const connection: ControlConnection = new ControlConnection({
      ...this.#client(this.#spawn("-f", "/dev/null"), hub, transport ?? this.host.clients.open),
      onOutput: (paneNumber, line, from, to) => {
        this.#keeper.guard.outputs.received(paneNumber);
        this.#panes.takeEscaped(paneNumber, line, from, to);
      },
      onNotification: (notification) => this.#keeper.notified(notification),
      onChunkEnd: () => {
        this.#supervisor.received();
        this.#panes.announce();
      },
      onClosed: (error) => {
        held?.release();
        this.#panes.beginEpoch("", error);
        this.#socket.detached();
        this.#keeper.detached(error, this.#options.socketPath);
        this.#supervisor.lost(connection, error);
      },
    });
    return connection;
  }

  /** Starts the server if there is none, so that it is attached to in the same way at the first start and later. */
  async #hold(): Promise<HeldServer | undefined> {
    const { clock, transport } = this.#options;
    const { hold, openDirect } = this.host.clients;
    if (transport !== undefined || hold === undefined || openDirect === undefined) return undefined;
    const holding = hold(this.#spawn("-f", "/dev/null"));
    // A server that is stopped does not respond: the client is then what fails.
    const held = await within<HeldServer | undefined>(clock, GUEST_ATTACH_WITHIN_MS, undefined, (done) => {
      void (async () => done(await holding))();
    });
    if (held === undefined) void (async () => (await holding).release())();
    return held;
  }

  #client(spawn: ClientSpawn, command: readonly string[], open: OpenTransport): ReturnType<typeof controlClient> {
    const { openDirect } = this.host.clients;
    return controlClient({ open, openDirect, spawn, socketPath: this.#options.socketPath }, command, this.#running);
  }

  #spawn(...args: readonly string[]): ClientSpawn {
    const { tmux, env, socketPath } = this.#options;
    return {
      tmux: tmux ?? "tmux",
      tmuxVersion: this.#tmuxVersion,
      args: ["-u", "-S", socketPath, ...args],
      env,
      cwd: "/",
    };
  }

  async #prepare(connection: ControlConnection): Promise<void> {
    const hub = await prepareHub({
      connection,
      host: this.host,
      clock: this.#options.clock,
      hubName: this.#hubName,
      output: (pane) => this.#panes.stream(pane),
      onPaneEvent: (event) => this.#keeper.paneEvent(event),
      requireOwn: ({ uid }) => this.host.sockets.requireOwn(this.#options.socketPath, uid, this.#options.setting),
      unset: SECRET_VARIABLES.filter((name) => !(name in this.#options.env)),
      shellMarks: this.#options.shellMarks,
      visit: (command) =>
        this.#client(this.#spawn("-N"), command, this.#options.transport ?? this.host.clients.openShort),
      setting: this.#options.setting,
    });
    this.#release();
    this.#socket.attached(hub.pid);
    await this.#keeper.attached(hub);
    this.#silent.attached(connection);
  }
}
