/**
 * A tmux server of our own behind the `TmuxServer` interface: one supervised control connection attached to the hub,
 * the inventory that its notifications keep true, and every pane's stream and input queue. Everything but start-up and
 * reconnecting happens on that connection; no operation starts a process.
 */
import { AppError } from "../../protocol/errors.ts";
import { controlPaneOutput, killSession, resizeWindow, unlinkWindow } from "../../protocol/command/build.ts";
import type { PaneId, SessionId } from "../../protocol/ids.ts";
import { DEFAULT_RING_BYTES, HISTORY_LIMIT_LINES, PAUSE_AFTER_SEC } from "../../protocol/limits.ts";
import { ControlConnection } from "../connection/controlConnection.ts";
import { createNonce } from "../connection/framing.ts";
import { Supervisor } from "../connection/supervisor.ts";
import { probeTmuxVersion } from "../connection/tmuxVersion.ts";
import { openPtyTransport, type OpenTransport } from "../connection/transport.ts";
import { captureScreen, type CaptureContext } from "../panes/capture.ts";
import type { OutputSource } from "../panes/outputSource.ts";
import { askPaneDetails } from "../panes/paneDetails.ts";
import { takeSnapshot } from "../panes/snapshot.ts";
import type { Clock } from "../time/clock.ts";
import { attachArguments, HUB_PREFIX } from "./hub.ts";
import { prepareHub } from "./hubStartup.ts";
import type { Inventory } from "./inventory.ts";
import { InventoryKeeper } from "./inventoryKeeper.ts";
import { makeSession } from "./makeSession.ts";
import { readPaneMarks, writePaneMark } from "./paneMarks.ts";
import { PaneRegistry } from "./paneRegistry.ts";
import { duplicate, requireSessionName, requireSize, sessionGone } from "./sessionRules.ts";
import { prepareSocketPath } from "./socketPath.ts";
import type {
  Capture,
  CaptureOptions,
  CreateSession,
  InputOptions,
  InputPart,
  InputReceipt,
  PaneDetails,
  PaneInfo,
  ServerCounters,
  ServerEvent,
  ServerStatus,
  SessionInfo,
  Snapshot,
  TmuxServer,
  WindowInfo,
} from "./tmuxServer.ts";

export interface OwnedServerOptions {
  /** Absolute; its directory is made with mode 0700 when missing. */
  readonly socketPath: string;
  /** The whole environment of the server and so of its panes: see `paneEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Structured log: fixed event names, never pane text. */
  readonly log?: ((event: string, fields: object) => void) | undefined;
  readonly tmux?: string | undefined;
  readonly transport?: OpenTransport | undefined;
  /** Output kept per pane. */
  readonly ringBytes?: number | undefined;
  readonly historyLines?: number | undefined;
  /** Where terminals come and go; tests have another. */
  readonly ttyDirectory?: string | undefined;
}

/** Letters and digits only: safe in a tmux name, pattern and target. */
const randomName = (chars: number): string => createNonce().slice(0, chars);

/**
 * Starts or finds the server, attaches, lists what is there.
 * @throws AppError TMUX_UNAVAILABLE, CONFIGURATION_INVALID, INCONSISTENT_STATE
 */
export async function startOwnedServer(options: OwnedServerOptions): Promise<TmuxServer> {
  prepareSocketPath(options.socketPath);
  const tmuxVersion = await probeTmuxVersion(options.tmux ?? "tmux", options.env);
  const server = new OwnedServer(options, tmuxVersion);
  await server.start();
  return server;
}

class OwnedServer implements TmuxServer {
  readonly #options: OwnedServerOptions;
  readonly #tmuxVersion: string;
  readonly #supervisor: Supervisor;
  readonly #panes: PaneRegistry;
  readonly #keeper: InventoryKeeper;
  #hubName = "";
  #buffers = 0;

  constructor(options: OwnedServerOptions, tmuxVersion: string) {
    this.#options = options;
    this.#tmuxVersion = tmuxVersion;
    const connection = (): ControlConnection => this.#supervisor.connection();
    this.#supervisor = new Supervisor({
      clock: options.clock,
      open: () => this.#open(),
      prepare: (fresh) => this.#prepare(fresh),
      onBeat: () => this.#keeper.beat(),
      onState: (state) => {
        if (state === "ready") this.#keeper.resume();
        this.#keeper.emit([{ kind: "state", state }]);
      },
      onEvent: (event, details) => options.log?.(event, details),
    });
    this.#panes = new PaneRegistry({
      retainBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      connection,
      bufferName: () => `tmuxwire-${this.#panes.epoch}-${(this.#buffers += 1)}`,
      onListenerError: (error) => this.#keeper.listenerFailed(error),
      onRevived: (pane) => this.#keeper.paneChanged(pane),
    });
    const { clock, log, ttyDirectory } = options;
    this.#keeper = new InventoryKeeper({ clock, panes: this.#panes, connection, log, ttyDirectory });
  }

  get #inventory(): Inventory {
    return this.#keeper.inventory;
  }

  start(): Promise<void> {
    return this.#supervisor.start();
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

  sessions(): readonly SessionInfo[] {
    return this.#inventory.sessions();
  }

  findSession(name: string): SessionInfo | undefined {
    return this.#inventory.findSession(name);
  }

  windows(): readonly WindowInfo[] {
    return this.#inventory.windows();
  }

  panes(): readonly PaneInfo[] {
    return this.#inventory.panes();
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    return this.#inventory.findPane(pane);
  }

  async createSession(request: CreateSession): Promise<SessionInfo> {
    requireSessionName(request.name);
    if (this.#inventory.findSession(request.name) !== undefined) throw duplicate(request.name);
    const made = await makeSession(this.#supervisor.connection(), request);
    await this.#keeper.refresh();
    const session = made === undefined ? undefined : this.#inventory.session(made);
    if (session !== undefined) return session;
    throw new AppError("TMUX_COMMAND_FAILED", `session ${request.name} ended at once; is its program there?`);
  }

  async killSession(session: SessionId): Promise<void> {
    const connection = this.#supervisor.connection();
    const { session: hub } = this.#keeper.requireHub();
    if (this.#inventory.session(session) === undefined) throw sessionGone(session);
    // The hub still holds these windows: they end with the session only if we take them out (docs/tmuxFacts.md 16, 30).
    const windows = this.#inventory.windowsOnlyIn(session);
    const panes = windows.flatMap((window) => this.#inventory.panesOf(window));
    try {
      await connection.group([
        ...panes.map((pane) => controlPaneOutput(pane, "off")),
        killSession(session),
        ...windows.map((window) => unlinkWindow(window, hub)),
      ]);
    } catch (error) {
      // Something in it went on its own; what is true now is what tmux says.
      if (!(error instanceof AppError && error.code === "TMUX_COMMAND_FAILED")) throw error;
      await this.#keeper.refresh();
      if (this.#inventory.session(session) === undefined) return;
      await connection.command(killSession(session), "none");
    }
    await this.#keeper.refresh();
  }

  async input(pane: PaneId, parts: readonly InputPart[], options: InputOptions = {}): Promise<InputReceipt> {
    this.#requirePane(pane);
    const stream = this.#panes.stream(pane);
    let outputSeq = stream.outputSeq;
    await this.#panes.input(pane).submit(parts, {
      ...options,
      beforeWrite: () => {
        outputSeq = stream.outputSeq;
        options.beforeWrite?.();
      },
    });
    return { position: { epoch: stream.epoch, outputSeq } };
  }

  async capture(pane: PaneId, options: CaptureOptions = {}): Promise<Capture> {
    return captureScreen(this.#captureContext(pane), options);
  }

  async snapshot(pane: PaneId): Promise<Snapshot> {
    return takeSnapshot(this.#captureContext(pane));
  }

  async describePane(pane: PaneId): Promise<PaneDetails> {
    this.#requirePane(pane);
    return askPaneDetails(this.#supervisor.connection(), pane);
  }

  async resize(pane: PaneId, cols: number, rows: number): Promise<void> {
    const { window } = this.#requirePane(pane);
    requireSize(cols, rows);
    await this.#supervisor.connection().command(resizeWindow(window, cols, rows), "none");
    await this.#keeper.refresh();
  }

  async setPaneMark(pane: PaneId, name: string, value: string | undefined): Promise<void> {
    this.#requirePane(pane);
    await writePaneMark(this.#supervisor.connection(), pane, name, value);
  }

  async paneMarks(name: string): Promise<ReadonlyMap<PaneId, string>> {
    return readPaneMarks(this.#supervisor.connection(), name);
  }

  counters(): ServerCounters {
    return this.#panes.counters();
  }

  output(pane: PaneId): OutputSource {
    const { exit } = this.#requirePane(pane);
    const stream = this.#panes.stream(pane);
    // The stream may be of a later epoch than the exit.
    if (exit !== undefined) stream.declareExit(exit);
    return stream;
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    return this.#keeper.subscribe(listener);
  }

  /** Leaves: the panes and their programs stay, the hub goes, and an empty server with it. */
  async close(): Promise<void> {
    this.#supervisor.close();
    this.#panes.beginEpoch("", new AppError("CONNECTION_LOST", "the daemon is stopping"));
    this.#keeper.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #open(): ControlConnection {
    const { tmux, env, transport, socketPath, historyLines } = this.#options;
    this.#hubName = `${HUB_PREFIX}${randomName(12)}`;
    this.#panes.beginEpoch(randomName(10), new AppError("CONNECTION_LOST", "the connection to tmux was made anew"));
    const connection: ControlConnection = new ControlConnection({
      open: transport ?? openPtyTransport,
      spawn: {
        tmux: tmux ?? "tmux",
        args: [
          "-u",
          "-f",
          "/dev/null",
          "-S",
          socketPath,
          ...attachArguments(this.#hubName, historyLines ?? HISTORY_LIMIT_LINES, PAUSE_AFTER_SEC),
        ],
        env,
        cwd: "/",
      },
      onOutput: (paneNumber, line, from, to) => this.#panes.takeEscaped(paneNumber, line, from, to),
      onNotification: (notification) => this.#keeper.notified(notification),
      onChunkEnd: () => {
        this.#supervisor.heard();
        this.#panes.announce();
      },
      onClosed: (error) => {
        this.#panes.beginEpoch("", error);
        this.#keeper.detached(error, socketPath);
        this.#supervisor.lost(connection, error);
      },
    });
    return connection;
  }

  async #prepare(connection: ControlConnection): Promise<void> {
    const hub = await prepareHub({
      connection,
      clock: this.#options.clock,
      hubName: this.#hubName,
      output: (pane) => this.#panes.stream(pane),
      onPaneEvent: (event) => this.#keeper.paneEvent(event),
    });
    await this.#keeper.attached(hub);
  }

  #captureContext(pane: PaneId): CaptureContext {
    this.#requirePane(pane);
    return {
      pane,
      connection: this.#supervisor.connection(),
      stream: this.#panes.stream(pane),
      totalOutputBytes: () => this.#panes.totalOutputBytes,
    };
  }

  #requirePane(pane: PaneId): PaneInfo {
    const info = this.#inventory.findPane(pane);
    if (info === undefined) throw new AppError("NOT_FOUND", `pane ${pane} does not exist; list the panes again`);
    return info;
  }
}
