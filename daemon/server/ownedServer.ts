/**
 * A tmux server of our own behind the `TmuxServer` interface: one supervised control connection attached to the hub,
 * the inventory that its notifications keep true, and every pane's stream and input queue. Everything but start-up and
 * reconnecting happens on that connection; no operation starts a process.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import {
  controlPaneOutput,
  killSession,
  newSession,
  setWindowOption,
  unlinkWindow,
} from "../../protocol/command/build.ts";
import type { ServerIdentity, SessionRow, WindowLink } from "../../protocol/command/formats.ts";
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import { DEFAULT_RING_BYTES, HISTORY_LIMIT_LINES, PAUSE_AFTER_SEC } from "../../protocol/limits.ts";
import { ControlConnection } from "../connection/controlConnection.ts";
import { createNonce } from "../connection/framing.ts";
import { Supervisor } from "../connection/supervisor.ts";
import { probeTmuxVersion } from "../connection/tmuxVersion.ts";
import { openPtyTransport, type OpenTransport } from "../connection/transport.ts";
import { captureScreen } from "../panes/capture.ts";
import type { OutputSource } from "../panes/outputSource.ts";
import type { Clock } from "../time/clock.ts";
import { attachArguments, HUB_PREFIX, isHubName } from "./hub.ts";
import { type AttachedHub, prepareHub } from "./hubStartup.ts";
import { Inventory, tmuxSessionName } from "./inventory.ts";
import { InventoryRefresher } from "./inventoryRefresher.ts";
import { PaneRegistry } from "./paneRegistry.ts";
import { prepareSocketPath } from "./socketPath.ts";
import type {
  Capture,
  CaptureOptions,
  CreateSession,
  InputOptions,
  InputPart,
  InputReceipt,
  PaneInfo,
  ServerEvent,
  ServerStatus,
  SessionInfo,
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
}

const DEFAULT_COLS = 80;
const DEFAULT_ROWS = 24;
const MAX_SESSION_NAME_CHARS = 256;
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
  readonly #inventory = new Inventory();
  readonly #refresher: InventoryRefresher;
  readonly #panes: PaneRegistry;
  #listeners: readonly ((event: ServerEvent) => void)[] = [];
  #hubName = "";
  #hub: AttachedHub | undefined;
  #identity: ServerIdentity | undefined;
  #buffers = 0;

  constructor(options: OwnedServerOptions, tmuxVersion: string) {
    this.#options = options;
    this.#tmuxVersion = tmuxVersion;
    const connection = (): ControlConnection => this.#supervisor.connection();
    this.#supervisor = new Supervisor({
      clock: options.clock,
      open: () => this.#open(),
      prepare: (fresh) => this.#prepare(fresh),
      onState: (state) => this.#emit([{ kind: "state", state }]),
      onEvent: (event, details) => options.log?.(event, details),
    });
    this.#panes = new PaneRegistry({
      retainBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      connection,
      bufferName: () => `tmuxwire-${this.#panes.epoch}-${(this.#buffers += 1)}`,
      onListenerError: (error) => this.#listenerFailed(error),
    });
    this.#refresher = new InventoryRefresher({
      connection: () => this.#hub?.connection ?? connection(),
      onTopology: (rows, links) => this.#applyTopology(rows, links),
      onPanes: (rows) => this.#emit(this.#inventory.applyPanes(rows)),
      onError: (error) => {
        if (error instanceof AppError && error.code === "CONNECTION_LOST") return;
        this.#options.log?.("inventory.failed", { error: String(error) });
      },
    });
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
    const { name } = request;
    requireSessionName(name);
    if (this.#inventory.findSession(name) !== undefined) throw duplicate(name);
    const target = `=${tmuxSessionName(name)}:` as const;
    const make = newSession({
      name,
      cwd: request.cwd,
      command: request.command,
      cols: request.cols ?? DEFAULT_COLS,
      rows: request.rows ?? DEFAULT_ROWS,
      format: "#{session_id}",
    });
    const keep = request.remainOnExit === true ? "on" : "off";
    try {
      await this.#supervisor.connection().group([make, setWindowOption(target, "remain-on-exit", keep)]);
    } catch (error) {
      throw creationError(name, error);
    }
    await this.#refresher.refresh();
    const session = this.#inventory.findSession(name);
    if (session === undefined) {
      throw new AppError("TMUX_COMMAND_FAILED", `session ${name} ended at once; is its program there?`);
    }
    return session;
  }

  async killSession(session: SessionId): Promise<void> {
    const hub = this.#requireHub();
    if (this.#inventory.session(session) === undefined) throw sessionGone(session);
    // The hub still holds these windows: they end with the session only if we take them out (docs/tmuxFacts.md 16, 30).
    const windows = this.#inventory.windowsOnlyIn(session);
    const panes = windows.flatMap((window) => this.#inventory.panesOf(window));
    try {
      await this.#supervisor
        .connection()
        .group([
          ...panes.map((pane) => controlPaneOutput(pane, "off")),
          killSession(session),
          ...windows.map((window) => unlinkWindow(window, hub.session)),
        ]);
    } catch (error) {
      // Something in it went on its own; what is true now is what tmux says.
      if (!(error instanceof AppError && error.code === "TMUX_COMMAND_FAILED")) throw error;
      await this.#refresher.refresh();
      if (this.#inventory.session(session) === undefined) return;
      await this.#supervisor.connection().command(killSession(session), "none");
    }
    await this.#refresher.refresh();
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
    this.#requirePane(pane);
    return captureScreen(
      {
        pane,
        connection: this.#supervisor.connection(),
        stream: this.#panes.stream(pane),
        totalOutputBytes: () => this.#panes.totalOutputBytes,
      },
      options,
    );
  }

  output(pane: PaneId): OutputSource {
    this.#requirePane(pane);
    return this.#panes.stream(pane);
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Leaves: the panes and their programs stay, the hub goes, and an empty server with it. */
  async close(): Promise<void> {
    this.#supervisor.close();
    this.#panes.beginEpoch("", new AppError("CONNECTION_LOST", "the daemon is stopping"));
    this.#listeners = [];
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
          ...["-u", "-f", "/dev/null", "-S", socketPath],
          ...attachArguments(this.#hubName, historyLines ?? HISTORY_LIMIT_LINES, PAUSE_AFTER_SEC),
        ],
        env,
        cwd: "/",
      },
      onOutput: (paneNumber, line, from, to) => this.#panes.takeEscaped(paneNumber, line, from, to),
      onNotification: (notification) => this.#notified(notification),
      onChunkEnd: () => {
        this.#supervisor.heard();
        this.#panes.announce();
      },
      onClosed: (error) => {
        this.#hub = undefined;
        this.#panes.beginEpoch("", error);
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
      onPaneDied: (pane) => this.#paneDied(pane),
    });
    const known = this.#identity;
    // Another server, or none before: every id means something else now (docs/tmuxFacts.md 8).
    if (known?.pid !== hub.pid || known.startSec !== hub.startSec) this.#emit(this.#inventory.clear());
    this.#identity = hub;
    this.#hub = hub;
    await this.#refresher.refresh();
  }

  #notified(notification: Notification): void {
    switch (notification.kind) {
      case "sessions-changed":
      case "session-renamed":
      case "session-window-changed":
      case "client-session-changed":
      case "window-add":
      case "window-close":
        this.#refresher.topologyChanged();
        return;
      case "layout-change":
      case "window-renamed":
      case "window-pane-changed":
        this.#refresher.windowChanged(notification.window);
        return;
      case "pause":
        this.#panes.declareHole(notification.pane, "paused");
        this.#hub?.connection.send(controlPaneOutput(notification.pane, "continue"), "none", () => undefined);
        return;
      case "session-changed":
      case "pane-mode-changed":
      case "continue":
      case "client-detached":
      case "exit":
      case "other":
        return;
    }
  }

  #applyTopology(rows: readonly SessionRow[], links: readonly WindowLink[]): readonly WindowId[] {
    const hub = this.#requireHub();
    const hubs = new Set(rows.filter((row) => isHubName(row.name)).map((row) => row.session));
    const { events, unknownWindows } = this.#inventory.applyTopology(
      rows.filter((row) => !hubs.has(row.session)),
      links.filter((link) => !hubs.has(link.session)),
    );
    this.#emit(events);
    this.#sweep(hub, links);
    return unknownWindows;
  }

  /** A window whose only place is the hub has lost its session: tmux would have ended it (docs/tmuxFacts.md 30). */
  #sweep(hub: AttachedHub, links: readonly WindowLink[]): void {
    const elsewhere = new Set(links.filter((link) => link.session !== hub.session).map((link) => link.window));
    for (const { session, window } of links) {
      if (session !== hub.session || window === hub.window || elsewhere.has(window)) continue;
      const panes = this.#inventory.panesOf(window);
      hub.connection.sendGroup(
        [...panes.map((pane) => controlPaneOutput(pane, "off")), unlinkWindow(window, hub.session)],
        () => undefined,
      );
    }
  }

  /** The event pane says so; the listing tells whether it is true. */
  #paneDied(pane: PaneId): void {
    const window = this.#inventory.findPane(pane)?.window;
    if (window === undefined) this.#refresher.topologyChanged();
    else this.#refresher.windowChanged(window);
  }

  #emit(events: readonly ServerEvent[]): void {
    for (const event of events) {
      if (event.kind === "pane-exited") this.#panes.declareExit(event.pane, event.status);
      if (event.kind === "pane-closed") this.#panes.closePane(event.pane);
      for (const listener of this.#listeners) {
        try {
          listener(event);
        } catch (error) {
          this.#listenerFailed(error);
        }
      }
    }
  }

  #listenerFailed(error: unknown): void {
    this.#options.log?.("listener.failed", { error: error instanceof Error ? error.message : String(error) });
  }

  #requireHub(): AttachedHub {
    if (this.#hub !== undefined) return this.#hub;
    throw new AppError("CONNECTION_LOST", "there is no connection to tmux at the moment; try again shortly");
  }

  #requirePane(pane: PaneId): void {
    if (this.#inventory.findPane(pane) === undefined) {
      throw new AppError("NOT_FOUND", `pane ${pane} does not exist; list the panes again`);
    }
  }
}

/** Names tmux takes as they are, but for `.` and `:` (session.c `session_check_name`). */
function requireSessionName(name: string): void {
  if (name === "" || name.length > MAX_SESSION_NAME_CHARS || /\p{C}/u.test(name) || name.startsWith(HUB_PREFIX)) {
    throw new AppError(
      "INVALID_ARGUMENT",
      `a session name has 1 to ${MAX_SESSION_NAME_CHARS} characters, no control character, and does not begin with ${HUB_PREFIX}`,
    );
  }
}

const duplicate = (name: string, cause?: unknown): AppError =>
  new AppError("ALREADY_EXISTS", `duplicate session: ${name}`, { cause });

const sessionGone = (session: SessionId): AppError =>
  new AppError("NOT_FOUND", `session ${session} does not exist; list the sessions again`);

function creationError(name: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "TMUX_COMMAND_FAILED") return error;
  if (/duplicate session/.test(error.message)) return duplicate(name, error);
  if (/fork failed|no more|too many|resource/i.test(error.message)) {
    return new AppError("RESOURCE_LIMIT", `tmux cannot start another pane (${error.message}); end some first`, {
      cause: error,
    });
  }
  return error;
}
