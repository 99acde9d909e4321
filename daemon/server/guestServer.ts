/**
 * The user's own tmux behind the `TmuxServer` interface, by the rules of a guest: never started, stopped,
 * configured or resized, no session or hook of ours, no option but marks on panes that somebody asked for, and nothing
 * else left behind however we go. One base connection for commands and notifications; a session's output is asked for
 * only when somebody needs it (`guestStreams.ts`).
 */
import { identityText } from "../../protocol/command/formats.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId, SessionId } from "../../protocol/ids.ts";
import {
  DEFAULT_RING_BYTES,
  GUEST_CALM_MS,
  GUEST_CALM_WITHIN_MS,
  GUEST_IDLE_MS,
  MAX_GUEST_ATTACHING,
} from "../../protocol/limits.ts";
import { openPipeTransport, openPtyTransport, type OpenTransport } from "../connection/transport.ts";
import { paneEnvironment } from "../ops/environment.ts";
import { captureScreen } from "../panes/capture.ts";
import type { OutputSource } from "../panes/outputSource.ts";
import { askPaneDetails } from "../panes/paneDetails.ts";
import { takeSnapshot } from "../panes/snapshot.ts";
import type { Clock } from "../time/clock.ts";
import { AttachGate } from "./attachGate.ts";
import { GuestBase } from "./guestBase.ts";
import { GuestInventory } from "./guestInventory.ts";
import { guestLauncher } from "./guestLauncher.ts";
import type { GuestSpawn } from "./guestLook.ts";
import { createGuestSession, killGuestSession, sessionClosed } from "./guestSessions.ts";
import { guestSocketPath } from "./guestSocket.ts";
import { GuestStreams } from "./guestStreams.ts";
import { GuestTmux } from "./guestTmux.ts";
import { TTY_DIRECTORY, TtyWatch } from "./guestTtys.ts";
import { readPaneMarks, writePaneMark } from "./paneMarks.ts";
import { sessionGone } from "./sessionRules.ts";
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
  ServerState,
  ServerStatus,
  SessionInfo,
  Snapshot,
  TmuxServer,
  WindowInfo,
} from "./tmuxServer.ts";

export interface GuestServerOptions {
  /** Absolute, or `default`: the server `tmux` itself would reach in `env`. */
  readonly socketPath: string;
  /** The daemon's environment. The control clients get what a pane may have of it, the user's sessions nothing. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Structured log: fixed event names, never pane text. */
  readonly log?: ((event: string, fields: object) => void) | undefined;
  readonly tmux?: string | undefined;
  readonly transport?: OpenTransport | undefined;
  /** Output kept per pane in use. */
  readonly ringBytes?: number | undefined;
  /** A session that nobody has used for this long is left. */
  readonly idleMs?: number | undefined;
  /** Where terminals come and go; tests have another. */
  readonly ttyDirectory?: string | undefined;
}

/**
 * Finds the server and lists what is there; when there is none, or no tmux to connect with, waits for it with the state
 * `connecting`, and calls that need it fail with a reason (`details.reason`: `tmux_not_installed`, `tmux_not_running`).
 * @throws AppError TMUX_UNAVAILABLE when tmux is too old.
 */
export async function startGuestServer(options: GuestServerOptions): Promise<TmuxServer> {
  const { server, listed } = await openGuestServer(options);
  await listed;
  return server;
}

export interface OpenedGuest {
  /** `connecting` until it is listed. */
  readonly server: TmuxServer;
  /** What is there has been listed, or there was nothing to list; never rejects. */
  readonly listed: Promise<void>;
}

/** The same without waiting for tmux, which may be busy. @throws AppError TMUX_UNAVAILABLE when it is too old. */
export async function openGuestServer(options: GuestServerOptions): Promise<OpenedGuest> {
  const env = paneEnvironment(options.env);
  const tmux = options.tmux ?? "tmux";
  const program = new GuestTmux(tmux, env);
  await program.find();
  const socketPath =
    options.socketPath === "default" ? guestSocketPath(options.env, process.getuid?.() ?? 0) : options.socketPath;
  const { transport } = options;
  const [open, openLook] = [transport ?? openPtyTransport, transport ?? openPipeTransport];
  const spawn = { open, openLook, launcher: guestLauncher(env), tmux, program, env, socketPath };
  const server = new GuestServer(options, spawn);
  return { server, listed: server.start() };
}

class GuestServer implements TmuxServer {
  readonly #options: GuestServerOptions;
  readonly #spawn: GuestSpawn;
  readonly #base: GuestBase;
  readonly #inventory: GuestInventory;
  readonly #streams: GuestStreams;
  readonly #ttys: TtyWatch;
  #saidState: ServerState = "connecting";
  #listeners: readonly ((event: ServerEvent) => void)[] = [];

  constructor(options: GuestServerOptions, spawn: GuestSpawn) {
    const { clock } = options;
    const gate = new AttachGate({
      clock,
      most: MAX_GUEST_ATTACHING,
      calmMs: GUEST_CALM_MS,
      withinMs: GUEST_CALM_WITHIN_MS,
    });
    const log = options.log ?? (() => undefined);
    this.#options = options;
    this.#spawn = spawn;
    this.#inventory = new GuestInventory({
      clock,
      serverPid: () => this.#base.serverPid,
      connection: () => this.#streams.connection(),
      log,
      onEvents: (events) => this.#emit(events),
      onAlive: (pane) => this.#streams.declareAlive(pane),
      onPlaces: (areWindowsNew) => this.#streams.checkPlaces(areWindowsNew),
    });
    this.#base = new GuestBase({
      spawn,
      gate,
      clock,
      log,
      onOutput: (paneNumber, line, from, to) => this.#streams.takeFromBase(paneNumber, line, from, to),
      onChunkEnd: () => this.#streams.announceFromBase(),
      onNotification: (notification, connection) => {
        this.#streams.notifiedByBase(notification, connection);
        this.#inventory.notified(notification);
      },
      hasStandIn: () => this.#streams.hasAttached,
      prepare: async (connection, isSameServer) => {
        if (!isSameServer) this.#forget(new AppError("CONNECTION_LOST", "the tmux server is another one now"));
        await this.#inventory.listOver(connection);
      },
      onLeft: (error) => this.#streams.baseLeft(error),
      onGone: () => this.#forget(new AppError("CONNECTION_LOST", "the tmux server has ended")),
      onPresence: () => this.#streams.checkPresence(),
      onBeat: () => this.#inventory.beat(),
      onState: (state) => {
        if (state === "ready") this.#inventory.resume();
        if (state === "degraded") this.#streams.abandonPending();
        // Lost with the session it was in, more often than with the server.
        if (state === "connecting") this.#lookAgain();
        this.#sayState(state === "ready");
      },
    });
    this.#streams = new GuestStreams({
      spawn,
      clock,
      base: this.#base,
      gate,
      inventory: this.#inventory,
      ringBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      idleMs: options.idleMs ?? GUEST_IDLE_MS,
      onListenerError: (error) => this.#listenerFailed(error),
      // Said again, `ready` tells whoever lost a stream that it can be opened.
      onReopen: () => {
        if (this.#streams.state === "ready") this.#sayState(true);
      },
      onLinkClosed: () => this.#sayState(false),
    });
    this.#ttys = new TtyWatch({
      clock,
      directory: options.ttyDirectory ?? TTY_DIRECTORY,
      look: () => this.#lookAgain(),
    });
  }

  start(): Promise<void> {
    return this.#base.start();
  }

  status(): ServerStatus {
    const { epoch, identity: server } = this.#base;
    const { state } = this.#streams;
    const identity = server === undefined ? undefined : identityText(server);
    const { socketPath, program } = this.#spawn;
    return { kind: "guest", state, tmuxVersion: program.version, socketPath, epoch, identity };
  }

  sessions(): readonly SessionInfo[] {
    return this.#inventory.known.sessions();
  }

  findSession(name: string): SessionInfo | undefined {
    return this.#inventory.known.findSession(name);
  }

  windows(): readonly WindowInfo[] {
    return this.#inventory.known.windows();
  }

  panes(): readonly PaneInfo[] {
    return this.#inventory.known.panes();
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    return this.#inventory.known.findPane(pane);
  }

  createSession(request: CreateSession): Promise<SessionInfo> {
    return createGuestSession(this.#streams, this.#inventory, request);
  }

  async killSession(session: SessionId): Promise<void> {
    if (this.#inventory.known.session(session) === undefined) throw sessionGone(session);
    this.#streams.leaveSession(session);
    await this.#base.leaveSession(session);
    const closed = sessionClosed(this, session, this.#options.clock);
    await killGuestSession(this.#streams, this.#inventory, session, closed);
  }

  async input(pane: PaneId, parts: readonly InputPart[], options: InputOptions = {}): Promise<InputReceipt> {
    return this.#streams.linkFor(this.#requirePane(pane)).use(
      pane,
      async ({ stream }, registry) => {
        let { outputSeq } = stream;
        await registry.input(pane).submit(parts, {
          ...options,
          beforeWrite: () => {
            outputSeq = stream.outputSeq;
            options.beforeWrite?.();
          },
        });
        return { position: { epoch: stream.epoch, outputSeq } };
      },
      options.signal,
    );
  }

  async capture(pane: PaneId, options: CaptureOptions = {}): Promise<Capture> {
    const link = this.#streams.linkFor(this.#requirePane(pane));
    return link.use(pane, () => captureScreen(link.captureContext(pane), options), options.signal);
  }

  async snapshot(pane: PaneId): Promise<Snapshot> {
    const link = this.#streams.linkFor(this.#requirePane(pane));
    return link.use(pane, () => takeSnapshot(link.captureContext(pane)));
  }

  async describePane(pane: PaneId): Promise<PaneDetails> {
    this.#requirePane(pane);
    return askPaneDetails(this.#streams.connection(), pane);
  }

  async resize(pane: PaneId): Promise<void> {
    this.#requirePane(pane);
    throw new AppError(
      "INVALID_ARGUMENT",
      "the size of a user's own window is the user's; resize the terminal it is in",
    );
  }

  async setPaneMark(pane: PaneId, name: string, value: string | undefined): Promise<void> {
    this.#requirePane(pane);
    await writePaneMark(this.#streams.connection(), pane, name, value);
  }

  async paneMarks(name: string): Promise<ReadonlyMap<PaneId, string>> {
    return readPaneMarks(this.#streams.connection(), name);
  }

  counters(): ServerCounters {
    return this.#streams.counters();
  }

  output(pane: PaneId): OutputSource {
    const info = this.#requirePane(pane);
    const link = this.#streams.linkFor(info);
    const source = link.source(pane);
    if (info.exit !== undefined) link.declareExit(pane, info.exit);
    return source;
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
  }

  /** Leaves: every control client of ours goes, and nothing else changes. */
  async close(): Promise<void> {
    this.#ttys.close();
    this.#inventory.close();
    this.#base.close();
    this.#streams.close();
    this.#listeners = [];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #sayState(evenAgain: boolean): void {
    const { state } = this.#streams;
    if (state === this.#saidState && !evenAgain) return;
    this.#saidState = state;
    this.#emit([{ kind: "state", state }]);
  }

  #lookAgain(): void {
    if (this.#streams.state === "ready") this.#inventory.ttysChanged();
  }

  #forget(error: AppError): void {
    this.#streams.closeAll(error);
    this.#inventory.clear();
  }

  #emit(events: readonly ServerEvent[]): void {
    for (const event of events) {
      if (event.kind === "pane-exited") this.#streams.declareExit(event.pane, event.status);
      if (event.kind === "pane-closed") this.#streams.paneGone(event.pane);
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

  #requirePane(pane: PaneId): PaneInfo {
    const info = this.findPane(pane);
    if (info !== undefined) return info;
    // Nothing is known of a server that is not there.
    this.#streams.connection();
    throw new AppError("NOT_FOUND", `pane ${pane} does not exist; list the panes again`);
  }
}
