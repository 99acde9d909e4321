/**
 * The user's own tmux behind the `TmuxServer` interface, by the rules of a guest: never started, stopped,
 * configured or resized, no session or hook of ours, no option but marks on panes that somebody asked for, and nothing
 * else left behind however we go. One base connection for commands and notifications; a session's output is asked for
 * only when somebody needs it (`guestStreams.ts`).
 */
import { identityText } from "../../../protocol/command/formats.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import {
  DEFAULT_RING_BYTES,
  GUEST_CALM_MS,
  GUEST_CALM_WITHIN_MS,
  GUEST_IDLE_MS,
  MAX_GUEST_ATTACHING,
} from "../../../protocol/limits.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Host } from "../../host/host.ts";
import type { OpenTransport } from "../../host/transport.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { Clock } from "../../time/clock.ts";
import { AttachGate } from "./attachGate.ts";
import { GuestBase } from "./guestBase.ts";
import { GuestInventory } from "./guestInventory.ts";
import type { GuestSpawn } from "./guestProbe.ts";
import { createGuestSession, killGuestSession, sessionClosed } from "./guestSessions.ts";
import { GuestStreams } from "./guestStreams.ts";
import { TtyWatch } from "../ttyWatch.ts";
import type { Inventory } from "../serverInventory.ts";
import { RealLayout } from "../layout/realLayout.ts";
import type { PaneInUse, ServerKind } from "../realServer.ts";
import { listenerFailure, ServerListeners } from "../serverListeners.ts";
import { sessionGone } from "../sessionRules.ts";
import type {
  CreateSession,
  PaneInfo,
  ServerCounters,
  ServerEvent,
  ServerState,
  ServerStatus,
  SessionInfo,
} from "../../tmux/inventory.ts";

export interface GuestServerOptions {
  /** Absolute, or `default`: the server `tmux` itself would reach in `env`. */
  readonly socketPath: string;
  /** The daemon's environment. The control clients get what a pane may have of it, the user's sessions nothing. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Structured log: fixed event names, never pane text. */
  readonly log?: ((event: string, fields: object) => void) | undefined;
  readonly tmux?: string | undefined;
  /** Default: this machine. */
  readonly host?: Host | undefined;
  /** Instead of how the host starts control clients. */
  readonly transport?: OpenTransport | undefined;
  /** Output kept per pane in use. */
  readonly ringBytes?: number | undefined;
  /** A session that nobody has used for this long is left. */
  readonly idleMs?: number | undefined;
  /** Between two looks at each connection; tests have less. */
  readonly heartbeatMs?: number | undefined;
}

export class GuestServer implements ServerKind {
  readonly #options: GuestServerOptions;
  readonly host: Host;
  readonly #spawn: GuestSpawn;
  readonly #base: GuestBase;
  readonly #inventory: GuestInventory;
  readonly #streams: GuestStreams;
  readonly #ttys: TtyWatch;
  readonly #listeners: ServerListeners;
  readonly layout: RealLayout;
  #saidState: ServerState = "connecting";

  constructor(options: GuestServerOptions, spawn: GuestSpawn) {
    const { clock } = options;
    this.host = spawn.host;
    const gate = new AttachGate({
      clock,
      most: MAX_GUEST_ATTACHING,
      calmMs: GUEST_CALM_MS,
      withinMs: GUEST_CALM_WITHIN_MS,
    });
    const log = options.log ?? (() => undefined);
    const onListenerError = listenerFailure(options.log);
    this.#options = options;
    this.#listeners = new ServerListeners(onListenerError);
    this.#spawn = spawn;
    this.#inventory = new GuestInventory({
      clock,
      processes: this.host.processes,
      serverPid: () => this.#base.serverPid,
      connection: () => this.#streams.connection(),
      base: () => this.#base.connection(),
      log,
      onEvents: (events) => this.#emit(events),
      onComplete: () => this.layout.changed(),
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
      hasFallback: () => this.#streams.hasAttached,
      prepare: async (connection, isSameServer) => {
        if (!isSameServer) this.#forget(new AppError("CONNECTION_LOST", "the tmux server is another one now"));
        await this.#inventory.listOver(connection);
      },
      onLeft: (error) => this.#streams.baseLeft(error),
      onGone: () => this.#forget(new AppError("CONNECTION_LOST", "the tmux server has ended")),
      onPresence: () => this.#streams.checkPresence(),
      heartbeatMs: options.heartbeatMs,
      onBeat: () => {
        if (this.#ttys.isTold) this.#inventory.beat();
        else this.#lookAgain();
        this.#streams.beat();
      },
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
      onListenerError,
      // Said again, `ready` tells whoever lost a stream that it can be opened.
      onReopen: () => {
        if (this.#streams.state === "ready") this.#sayState(true);
      },
      onClientClosed: () => this.#sayState(false),
    });
    this.layout = new RealLayout(
      {
        inventory: this.inventory,
        connection: () => this.connection(),
        requireKnown: () => this.requireKnown(),
        list: (windows) => this.#inventory.list(windows),
        ending: (sessions, end) => this.#ending(sessions, end),
        follow: (isFollowed) => this.#inventory.follow(isFollowed),
      },
      onListenerError,
    );
    this.#ttys = new TtyWatch({
      clock,
      terminals: this.host.terminals,
      look: () => this.#lookAgain(),
    });
  }

  start(): Promise<void> {
    return this.#base.start();
  }

  async check(): Promise<void> {
    await Promise.all([this.#base.check(), this.#streams.check()]);
  }

  status(): ServerStatus {
    const { epoch, identity: server } = this.#base;
    const { state } = this.#streams;
    const identity = server === undefined ? undefined : identityText(server);
    const { socketPath, program } = this.#spawn;
    return { kind: "guest", state, tmuxVersion: program.version, socketPath, epoch, identity };
  }

  get inventory(): Inventory {
    return this.#inventory.known;
  }

  connection(): ControlConnection {
    return this.#streams.connection();
  }

  /** Nothing is known of a server that is not there. */
  requireKnown(): void {
    this.#streams.connection();
  }

  createSession(request: CreateSession): Promise<SessionInfo> {
    return createGuestSession(this.#streams, this.#inventory, request);
  }

  async killSession(session: SessionId): Promise<void> {
    if (this.inventory.session(session) === undefined) throw sessionGone(session);
    await this.#ending([session], () => killGuestSession(this.#streams, session));
  }

  async resize(): Promise<void> {
    throw new AppError(
      "INVALID_ARGUMENT",
      "the size of a user's own window is the user's; resize the terminal it is in",
    );
  }

  use<T>(pane: PaneInfo, work: (inUse: PaneInUse) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const { id } = pane;
    const client = this.#streams.clientFor(pane);
    return client.use(
      id,
      ({ stream }, registry) =>
        work({
          stream: () => stream,
          input: () => registry.input(id),
          captureContext: () => client.captureContext(id),
        }),
      signal,
    );
  }

  output(pane: PaneInfo): OutputSource {
    const client = this.#streams.clientFor(pane);
    const source = client.source(pane.id);
    if (pane.exit !== undefined) client.declareExit(pane.id, pane.exit);
    return source;
  }

  counters(): ServerCounters {
    return this.#streams.counters();
  }

  subscribe(listener: (event: ServerEvent) => void): () => void {
    return this.#listeners.subscribe(listener);
  }

  /** Leaves: every control client of ours goes, and nothing else changes. */
  close(): void {
    this.#ttys.close();
    this.#inventory.close();
    this.#base.close();
    this.#streams.close();
    this.#listeners.clear();
    this.layout.close();
  }

  /** Our clients leave sessions that end before they do. With its last session the server goes: then there is nobody to ask. */
  async #ending(sessions: readonly SessionId[], end: () => Promise<unknown>): Promise<void> {
    for (const session of sessions) {
      this.#streams.leaveSession(session);
      await this.#base.leaveSession(session);
    }
    const isLast = sessions.length > 0 && sessions.length === this.inventory.sessions().length;
    const { clock } = this.#options;
    const closed = isLast ? sessions.map((session) => sessionClosed(this, session, clock)) : [];
    try {
      await end();
    } catch (error) {
      // It took the server along.
      if (!(isLast && error instanceof AppError && error.code === "CONNECTION_LOST")) throw error;
    }
    if (isLast) await Promise.all(closed);
    else await this.#inventory.refresh();
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
      this.#listeners.tell(event);
    }
  }
}
