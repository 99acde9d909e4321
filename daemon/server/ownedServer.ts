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
  linkWindow,
  listPanesWhere,
  newSession,
  resizeWindow,
  setWindowOption,
  unlinkWindow,
  unsetPaneOption,
} from "../../protocol/command/build.ts";
import {
  decodePaneIds,
  lines,
  type ServerIdentity,
  type SessionRow,
  type WindowLink,
} from "../../protocol/command/formats.ts";
import { isSessionId, type PaneId, type SessionId, type WindowId } from "../../protocol/ids.ts";
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
import { attachArguments, HUB_PREFIX, isHubName, TITLE_OPTION, titleTold } from "./hub.ts";
import { type AttachedHub, prepareHub } from "./hubStartup.ts";
import { Inventory, tmuxSessionName } from "./inventory.ts";
import { InventoryRefresher } from "./inventoryRefresher.ts";
import { lingering } from "./linger.ts";
import { PaneLook } from "./paneLook.ts";
import { PaneRegistry } from "./paneRegistry.ts";
import { prepareSocketPath } from "./socketPath.ts";
import { TitleWatch } from "./titleWatch.ts";
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
}

const DEFAULT_COLS = 80;
const DEFAULT_ROWS = 24;
const MAX_SESSION_NAME_CHARS = 256;
/** Far beyond any screen, far below tmux's own 10,000, at which a grid costs gigabytes. */
const MAX_WINDOW_CELLS = 1_000;
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
  readonly #titles: TitleWatch;
  readonly #dead: PaneLook;
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
      // A hook can be missed (see PaneEvent); dead panes are looked for now and then, on a connection that is alive.
      onBeat: () => this.#dead.look(),
      onState: (state) => {
        if (state === "ready") this.#refresher.resume();
        this.#emit([{ kind: "state", state }]);
      },
      onEvent: (event, details) => options.log?.(event, details),
    });
    this.#panes = new PaneRegistry({
      retainBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      connection,
      bufferName: () => `tmuxwire-${this.#panes.epoch}-${(this.#buffers += 1)}`,
      onListenerError: (error) => this.#listenerFailed(error),
      onRevived: (pane) => this.#paneChanged(pane),
    });
    this.#refresher = new InventoryRefresher({
      connection: () => this.#hub?.connection ?? connection(),
      onTopology: (rows, links) => this.#applyTopology(rows, links),
      onPanes: (rows) => {
        this.#emit(this.#inventory.applyPanes(rows));
        for (const row of rows) if (!row.dead) this.#panes.declareAlive(row.pane);
        if (rows.some((row) => row.dead && row.deadStatus === undefined && row.deadSignal === undefined)) this.#reap();
      },
      strays: () => [...this.#inventory.strays(), ...this.#unknownStreams()],
      onPlaces: (asked, places) => {
        const { events, windows } = this.#inventory.applyPlaces(asked, places);
        this.#emit(events);
        for (const pane of asked) if (!places.has(pane)) this.#panes.closePane(pane);
        return windows;
      },
      onError: (error) => this.#listingFailed(error),
    });
    const onError = (error: unknown): void => this.#listingFailed(error);
    const titles = new PaneLook({
      ask: () => this.#panesWhere(titleTold(this.#requireHub().hookIndex)),
      found: (panes) => this.#titlesChanged(panes),
      onError,
    });
    this.#titles = new TitleWatch({ clock: options.clock, look: () => titles.look() });
    this.#dead = new PaneLook({
      ask: () => this.#panesWhere("#{pane_dead}"),
      found: (panes) => {
        for (const pane of panes) if (this.#inventory.findPane(pane)?.exit === undefined) this.#paneChanged(pane);
      },
      onError,
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
    const keep = request.remainOnExit === true;
    const make = newSession({
      name,
      cwd: request.cwd,
      command: keep && request.command !== undefined ? lingering(request.command) : request.command,
      cols: request.cols ?? DEFAULT_COLS,
      rows: request.rows ?? DEFAULT_ROWS,
      format: "#{session_id}",
    });
    // In one step with the making, so that the shortest program is kept too (docs/tmuxFacts.md 34).
    const keepIt = setWindowOption(`=${tmuxSessionName(name)}:`, "remain-on-exit", "on");
    let made: SessionId | undefined;
    try {
      const [reply] = await this.#supervisor.connection().group(keep ? [make, keepIt] : [make]);
      made = lines(reply?.body ?? new Uint8Array(0)).find(isSessionId);
    } catch (error) {
      throw creationError(name, error);
    }
    await this.#refresher.refresh();
    const session = made === undefined ? undefined : this.#inventory.session(made);
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
    await this.#refresher.refresh();
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
      onNotification: (notification) => this.#notified(notification),
      onChunkEnd: () => {
        this.#supervisor.heard();
        this.#panes.announce();
      },
      onClosed: (error) => {
        this.#hub = undefined;
        this.#titles.clear();
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
      onPaneEvent: (event) => {
        if (event === "title") this.#titles.changed();
        else this.#dead.look();
      },
    });
    const known = this.#identity;
    // Another server, or none before: every id means something else now (docs/tmuxFacts.md 8).
    if (known?.pid !== hub.pid || known.startSec !== hub.startSec) this.#emit(this.#inventory.clear());
    this.#identity = hub;
    this.#hub = hub;
    await this.#refresher.refreshAll();
  }

  #notified(notification: Notification): void {
    switch (notification.kind) {
      case "sessions-changed":
      case "session-renamed":
      case "session-window-changed":
      case "client-session-changed":
      // Another hub goes with its client, and what a hook does is not announced.
      case "client-detached":
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
      case "exit":
      case "other":
        return;
    }
  }

  #applyTopology(rows: readonly SessionRow[], links: readonly WindowLink[]): readonly WindowId[] {
    const hub = this.#requireHub();
    if (!links.some((link) => link.session === hub.session && link.window === hub.window)) {
      hub.connection.close(new AppError("CONNECTION_LOST", "the event pane was closed; reconnecting"));
      return [];
    }
    const hubs = new Set(rows.filter((row) => isHubName(row.name)).map((row) => row.session));
    const { events, unknownWindows } = this.#inventory.applyTopology(
      rows.filter((row) => !hubs.has(row.session)),
      links.filter((link) => !hubs.has(link.session)),
    );
    this.#emit(events);
    this.#sweep(hub, hubs, links);
    return unknownWindows;
  }

  /**
   * A window whose only place is the hub has lost its session: tmux would have ended it (docs/tmuxFacts.md 30). One that
   * is in a session but not in the hub was taken out of it by somebody: without the hub we would not hear of it.
   */
  #sweep(hub: AttachedHub, hubs: ReadonlySet<SessionId>, links: readonly WindowLink[]): void {
    const elsewhere = new Set(links.filter((link) => link.session !== hub.session).map((link) => link.window));
    const inHub = new Set(links.filter((link) => link.session === hub.session).map((link) => link.window));
    for (const window of inHub) {
      if (window === hub.window || elsewhere.has(window)) continue;
      hub.connection.send(unlinkWindow(window, hub.session), "none", () => undefined);
    }
    for (const { session, window } of links) {
      if (hubs.has(session) || inHub.has(window)) continue;
      inHub.add(window);
      hub.connection.send(linkWindow(window, hub.session), "none", () => undefined);
      for (const pane of this.#inventory.panesOf(window)) {
        hub.connection.send(controlPaneOutput(pane, "on"), "none", () => undefined);
      }
    }
  }

  /** Panes that wrote something and went before any listing met them. */
  #unknownStreams(): readonly PaneId[] {
    const own = this.#hub?.pane;
    return this.#panes.streamed().filter((pane) => pane !== own && this.#inventory.findPane(pane) === undefined);
  }

  /**
   * A pane's terminal is closed and tmux does not know how its program ended. Mostly it learns that in a moment; now and
   * then tmux 3.3a sleeps over the signal that tells it, and the program stays a zombie until another one ends. Another
   * such signal makes it look, and its hook tells us.
   */
  #reap(): void {
    if (this.#identity === undefined) return;
    try {
      process.kill(this.#identity.pid, "SIGCHLD");
    } catch {
      // The server has just gone.
    }
  }

  async #panesWhere(filter: string): Promise<readonly PaneId[]> {
    return decodePaneIds((await this.#requireHub().connection.command(listPanesWhere(filter))).body);
  }

  #listingFailed(error: unknown): void {
    if (error instanceof AppError && error.code === "CONNECTION_LOST") return;
    this.#options.log?.("inventory.failed", { error: String(error) });
  }

  #titlesChanged(panes: readonly PaneId[]): void {
    const connection = this.#hub?.connection;
    for (const pane of panes) {
      connection?.send(unsetPaneOption(pane, TITLE_OPTION), "none", () => undefined);
      this.#paneChanged(pane);
    }
  }

  #paneChanged(pane: PaneId): void {
    const window = this.#inventory.findPane(pane)?.window;
    if (window === undefined) this.#refresher.unknownPaneChanged(pane);
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

  #captureContext(pane: PaneId): CaptureContext {
    this.#requirePane(pane);
    return {
      pane,
      connection: this.#supervisor.connection(),
      stream: this.#panes.stream(pane),
      totalOutputBytes: () => this.#panes.totalOutputBytes,
    };
  }

  #requireHub(): AttachedHub {
    if (this.#hub !== undefined) return this.#hub;
    throw new AppError("CONNECTION_LOST", "there is no connection to tmux at the moment; try again shortly");
  }

  #requirePane(pane: PaneId): PaneInfo {
    const info = this.#inventory.findPane(pane);
    if (info === undefined) throw new AppError("NOT_FOUND", `pane ${pane} does not exist; list the panes again`);
    return info;
  }
}

/** Names tmux takes as they are, but for `.` and `:` (session.c `session_check_name`). */
export function requireSessionName(name: string): void {
  if (name === "" || name.length > MAX_SESSION_NAME_CHARS || /\p{C}|^\$/u.test(name) || name.startsWith(HUB_PREFIX)) {
    throw new AppError(
      "INVALID_ARGUMENT",
      `a session name has 1 to ${MAX_SESSION_NAME_CHARS} characters, no control character, and does not begin with $ or ${HUB_PREFIX}`,
    );
  }
}

/** @throws AppError INVALID_ARGUMENT */
export function requireSize(cols: number, rows: number): void {
  for (const value of [cols, rows]) {
    if (Number.isInteger(value) && value >= 1 && value <= MAX_WINDOW_CELLS) continue;
    throw new AppError("INVALID_ARGUMENT", `a size is 1 to ${MAX_WINDOW_CELLS} columns and rows`);
  }
}

export const duplicate = (name: string, cause?: unknown): AppError =>
  new AppError("ALREADY_EXISTS", `duplicate session: ${name}`, { cause });

export const sessionGone = (session: SessionId): AppError =>
  new AppError("NOT_FOUND", `session ${session} does not exist; list the sessions again`);

export function creationError(name: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== "TMUX_COMMAND_FAILED") return error;
  if (/duplicate session/.test(error.message)) return duplicate(name, error);
  if (/fork failed|no more|too many|resource/i.test(error.message)) {
    return new AppError("RESOURCE_LIMIT", `tmux cannot start another pane (${error.message}); end some first`, {
      cause: error,
    });
  }
  return error;
}
