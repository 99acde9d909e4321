/**
 * The user's own tmux behind the `TmuxServer` interface, by the rules of a guest: never started, stopped,
 * configured or resized, no session or hook of ours, no option but user options of single panes that a client asked for, and nothing
 * else left behind however we go. One base connection for commands and notifications; a session's output is asked for
 * only when somebody needs it (`guestStreams.ts`).
 */
import {
  endingInNextTurn,
  type JustMade,
  killSession,
  setWindowOption,
  unzoom,
  writeNothingAtExit,
} from "../../../protocol/command/build.ts";
import { identityText } from "../../../protocol/command/formats.ts";
import { AppError, invalidArgument, shuttingDown } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import { DEFAULT_RING_BYTES, GUEST_IDLE_MS } from "../../../protocol/limits.ts";
import { notResponding } from "../../connection/connectionErrors.ts";
import { ignoreRefusal } from "../../connection/commandQueue.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Closable } from "../../host/host.ts";
import { localHost } from "../../host/localHost.ts";
import { paneEnvironment } from "../../ops/environment.ts";
import { reachedTmuxSocket } from "../../ops/runtimePaths.ts";
import type { CaptureContext } from "../../panes/askPane.ts";
import type { OutputOptions, OutputSource } from "../../tmux/outputSource.ts";
import type { Clock } from "../../time/clock.ts";
import { within } from "../../time/within.ts";
import { AttachGate } from "./attachGate.ts";
import { GuestBase } from "./guestBase.ts";
import { GuestInventory } from "./guestInventory.ts";
import { GuestLife } from "./guestLife.ts";
import { findTmux, type GuestSpawn } from "./guestProbe.ts";
import { GuestStreams } from "./guestStreams.ts";
import { UnfollowedPanes } from "./unfollowedPanes.ts";
import { userOptionsOf } from "../paneUserOptions.ts";
import { watchTtys } from "../ttyWatch.ts";
import type { InventoryStore } from "../inventory/inventoryStore.ts";
import { requirePane } from "../layout/layoutTargets.ts";
import type { PaneRegistry } from "../paneRegistry.ts";
import { type LookOptions, RealServer, type ServerOptions } from "../realServer.ts";
import type { SessionToMake } from "../sessionMaking.ts";
import { sessionGone } from "../sessionRules.ts";
import type { CreateSession, PaneInfo, ServerCounters, ServerEvent, ServerStatus } from "../../tmux/inventory.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";

export interface GuestServerOptions extends ServerOptions {
  /** Absolute, or `default`: the server `tmux` itself would reach in `env`. */
  readonly socketPath: string;
  /** The daemon's environment. The control clients get what a pane may have of it, the user's sessions nothing. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A session that nobody has used for this long is left. */
  readonly idleMs?: number | undefined;
}

export interface OpenedGuest {
  /** `connecting` until it is listed. */
  readonly server: TmuxServer;
  /** What is there has been listed, or there was nothing to list; never rejects. */
  readonly listed: Promise<void>;
}

/**
 * Finds the server and begins to list what is there. When there is none, or no tmux to connect with, waits for it with the
 * state `connecting`, and calls that need it fail with a reason (`details.reason`: `tmux_not_installed`,
 * `tmux_not_running`). @throws AppError TMUX_UNAVAILABLE when tmux is too old.
 */
export async function openGuestServer(options: GuestServerOptions): Promise<OpenedGuest> {
  const env = paneEnvironment(options.env);
  const tmux = options.tmux ?? "tmux";
  const host = options.host ?? localHost();
  const socketPath =
    options.socketPath === "default" ? reachedTmuxSocket(options.env, process.getuid?.() ?? 0) : options.socketPath;
  const { transport } = options;
  const [open, openDirect] = transport === undefined ? [host.clients.open, host.clients.openDirect] : [transport];
  const spawn = { host, open, openDirect, tmux, program: {}, env, socketPath };
  await findTmux(spawn);
  const server = new GuestServer(options, spawn);
  return { server, listed: server.start() };
}

class GuestServer extends RealServer {
  readonly #options: GuestServerOptions;
  readonly #spawn: GuestSpawn;
  readonly #gate: AttachGate;
  readonly #life: GuestLife;
  readonly #base: GuestBase;
  readonly #inventory: GuestInventory;
  readonly #streams: GuestStreams;
  readonly #unfollowed: UnfollowedPanes;
  /** Undefined: the host does not report terminals. */
  readonly #ttys: Closable | undefined;

  constructor(options: GuestServerOptions, spawn: GuestSpawn) {
    super(options, spawn.host);
    const { clock } = options;
    const log = options.log ?? (() => undefined);
    const onWaiting = (): void => {
      const { waiting } = gate;
      log("attach.calm", { state: waiting === undefined ? "attaching" : "waiting until the server is calm" });
      this.#emit([{ kind: "waiting", waiting }]);
    };
    const gate: AttachGate = new AttachGate({ clock, onWaiting });
    this.#gate = gate;
    this.#options = options;
    this.#spawn = spawn;
    this.#life = new GuestLife({
      hasFallback: () => this.#streams.hasFallback,
      onEnter: (state) => {
        if (state === "ready") this.#inventory.refresher.resume();
        if (state === "degraded")
          for (const client of this.#streams.clients.all()) client.abandonPending(notResponding());
        // The base was lost with the session it was in, more often than with the server.
        if (state === "covered") this.#inventory.settler.probe();
      },
      report: (state) => this.#emit([{ kind: "state", state }]),
    });
    this.#inventory = new GuestInventory({
      clock,
      log,
      processes: this.host.processes,
      streams: () => this.#streams,
      onEvents: (events) => this.#emit(events),
      onAlive: (pane) => {
        this.#streams.clients.carrying(pane)?.registry.declareAlive(pane);
        this.#unfollowed.declareAlive(pane);
      },
      onComplete: () => {
        this.#unfollowed.baseMoved();
        this.layout.changed();
      },
    });
    this.#unfollowed = new UnfollowedPanes({
      clock,
      base: () => this.#base.connection(),
      baseWindows: () => this.#streams.baseWindows(),
      connection: () => this.#streams.connection(),
      panesOf: (window) => this.#inventory.known.panesOf(window),
      onListenerError: this.onListenerError,
    });
    this.#base = new GuestBase({
      spawn,
      gate,
      clock,
      log,
      heartbeatMs: options.heartbeatMs,
      inventory: this.#inventory,
      life: this.#life,
      unfollowed: this.#unfollowed,
      onBeat: () => {
        if (this.#ttys !== undefined) this.#inventory.settler.heartbeat();
        else this.#probeAgain();
        this.#streams.heartbeat();
      },
      onGone: (error) => this.#gone(error),
      onPresence: () => this.#streams.checkPresence(),
    });
    this.#streams = new GuestStreams({
      spawn,
      clock,
      gate,
      base: this.#base,
      life: this.#life,
      inventory: this.#inventory,
      retainBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      idleMs: options.idleMs ?? GUEST_IDLE_MS,
      onListenerError: this.onListenerError,
    });
    this.#ttys = watchTtys({ clock, terminals: this.host.terminals, probe: () => this.#probeAgain() });
  }

  start(): Promise<void> {
    return this.#base.start();
  }

  async check(): Promise<ServerStatus> {
    await Promise.all([this.#base.check(), this.#streams.check()]);
    return this.status();
  }

  status(): ServerStatus {
    const { epoch, identity: server } = this.#base;
    const { serverState: state } = this.#life;
    const identity = server === undefined ? undefined : identityText(server);
    const { socketPath, program } = this.#spawn;
    const { waiting } = this.#gate;
    return { kind: "guest", state, tmuxVersion: program.version, socketPath, epoch, identity, waiting };
  }

  get inventory(): InventoryStore {
    return this.#inventory.known;
  }

  connection(): ControlConnection {
    return this.#streams.connection();
  }

  /** Nothing is known of a server that is not there. */
  requireKnown(): void {
    this.#streams.connection();
  }

  /** As `tmux new-session -d` makes it: the server's environment, the user's sizes and options, and what the request asks for on its window and pane. */
  protected sessionToMake(request: CreateSession, keep: boolean): SessionToMake {
    const { name, cwd, command, cols, rows, environment, windowName } = request;
    const keepIt = (made: JustMade): string => setWindowOption(made, "remain-on-exit", "on");
    const setUp = [...(keep ? [keepIt, writeNothingAtExit] : []), ...userOptionsOf(request)];
    return { name, cwd, command, cols, rows, environment, windowName, updateEnvironment: false, setUp };
  }

  async killSession(session: SessionId): Promise<void> {
    if (this.inventory.session(session) === undefined) throw sessionGone(session);
    for (const window of this.inventory.windowsOnlyIn(session)) {
      this.connection().send(unzoom(window), "none", () => undefined);
    }
    // It may go by itself meanwhile.
    await this.ending([session], () =>
      this.connection()
        .group(endingInNextTurn(killSession(session)))
        .catch(ignoreRefusal),
    );
  }

  async resize(pane: PaneId): Promise<void> {
    requirePane(this, pane);
    throw invalidArgument("windows of the user's own server are not resized; resize the terminal that shows this one");
  }

  protected use<T>(
    pane: PaneInfo,
    work: (panes: PaneRegistry) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    return this.#streams.clientFor(pane).use(pane.id, work, signal);
  }

  protected override look<T>(
    pane: PaneInfo,
    work: (context: CaptureContext) => Promise<T>,
    { signal, unfollowed }: LookOptions,
  ): Promise<T> {
    if (unfollowed === true) return this.#unfollowed.look(pane.id, work);
    return this.#streams.clientFor(pane).look(pane.id, work, signal);
  }

  output(pane: PaneId, { unfollowed }: OutputOptions = {}): OutputSource {
    const info = requirePane(this, pane);
    if (unfollowed === true) {
      this.requireKnown();
      return this.#unfollowed.source(pane);
    }
    const client = this.#streams.clientFor(info);
    const source = client.source(pane);
    if (info.exit !== undefined) client.registry.declareExit(pane, info.exit);
    return source;
  }

  counters(): ServerCounters {
    return this.#streams.clients.counters();
  }

  list(windows: readonly WindowId[]): Promise<void> {
    return this.#inventory.refresher.list(windows);
  }

  protected follow(isFollowed: boolean): void {
    this.#inventory.silent.follow(isFollowed);
  }

  #gone(error: AppError): void {
    for (const client of this.#streams.clients.all()) client.close(error);
    this.#unfollowed.closeAll(error);
    this.#inventory.clear();
  }

  /** Leaves: every control client of ours goes, and nothing else changes. */
  protected leave(): void {
    this.#ttys?.close();
    this.#inventory.settler.clear();
    this.#base.close();
    this.#streams.clients.close(shuttingDown());
    this.#unfollowed.closeAll(shuttingDown());
    this.#gate.close();
  }

  /** Our clients leave these sessions before they end. The server goes with its last session: then there is nobody to ask. */
  async ending(sessions: readonly SessionId[], end: () => Promise<unknown>): Promise<void> {
    for (const session of sessions) {
      this.#streams.clients.get(session)?.close(new AppError("CONNECTION_LOST", `session ${session} is being ended`));
    }
    await this.#base.leaveSessions(sessions);
    const isLast = sessions.length > 0 && sessions.length === this.inventory.sessions().length;
    const { clock } = this.#options;
    const closed = isLast ? sessions.map((session) => sessionClosed(this, session, clock)) : [];
    try {
      await end();
    } catch (error) {
      // The server went with it.
      if (!(isLast && error instanceof AppError && error.code === "CONNECTION_LOST")) throw error;
    }
    if (isLast) await Promise.all(closed);
    else await this.#inventory.refresher.refresh();
  }

  #probeAgain(): void {
    if (this.#life.serverState === "ready") this.#inventory.settler.probe();
  }

  #emit(events: readonly ServerEvent[]): void {
    for (const event of events) {
      if (event.kind === "pane-exited") {
        this.#streams.clients.carrying(event.pane)?.registry.declareExit(event.pane, event.status);
        this.#unfollowed.declareExit(event.pane, event.status);
      }
      if (event.kind === "pane-closed") {
        this.#streams.clients.carrying(event.pane)?.closePane(event.pane);
        this.#unfollowed.paneGone(event.pane);
      }
      this.listeners.emit(event);
    }
  }
}

/** The server and the connection go with the last session: at most this long after tmux has replied. */
const SERVER_ENDS_WITHIN_MS = 2_000;

/** Resolves when the session is known to be gone, or after a bounded time. */
const sessionClosed = (server: GuestServer, session: SessionId, clock: Clock): Promise<void> =>
  within<void>(clock, SERVER_ENDS_WITHIN_MS, undefined, (done) =>
    server.subscribe((event) => {
      if (event.kind === "session-closed" && event.session === session) done();
    }),
  );
