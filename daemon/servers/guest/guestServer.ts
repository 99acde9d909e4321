/**
 * The user's own tmux behind the `TmuxServer` interface, by the rules of a guest: never started, stopped,
 * configured or resized, no session or hook of ours, no option but user options of single panes that a client asked for, and nothing
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
import { type GuestBaseListener, GuestLife } from "./guestLife.ts";
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
  /** Between two probes of each connection; tests use less. */
  readonly heartbeatMs?: number | undefined;
}

export class GuestServer implements ServerKind, GuestBaseListener {
  readonly #options: GuestServerOptions;
  readonly host: Host;
  readonly #spawn: GuestSpawn;
  readonly #life: GuestLife;
  readonly #base: GuestBase;
  readonly #inventory: GuestInventory;
  readonly #streams: GuestStreams;
  readonly #ttys: TtyWatch;
  readonly #listeners: ServerListeners;
  readonly layout: RealLayout;

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
    this.#life = new GuestLife({
      hasFallback: () => this.#streams.hasFallback,
      onEnter: (state) => {
        if (state === "ready") this.#inventory.resume();
        if (state === "silent") this.#streams.abandonPending();
        // The base was lost with the session it was in, more often than with the server.
        if (state === "covered") this.#inventory.ttysChanged();
      },
      tell: (state) => this.#emit([{ kind: "state", state }]),
    });
    this.#inventory = new GuestInventory({
      clock,
      log,
      processes: this.host.processes,
      clients: () => this.#streams,
      onEvents: (events) => this.#emit(events),
      onComplete: () => this.layout.changed(),
    });
    const { heartbeatMs } = options;
    this.#base = new GuestBase({ spawn, gate, clock, log, heartbeatMs, inventory: this.#inventory, listener: this });
    this.#streams = new GuestStreams({
      spawn,
      clock,
      gate,
      base: this.#base,
      life: this.#life,
      inventory: this.#inventory,
      ringBytes: options.ringBytes ?? DEFAULT_RING_BYTES,
      idleMs: options.idleMs ?? GUEST_IDLE_MS,
      onListenerError,
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
      probe: () => this.#probeAgain(),
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
    const { serverState: state } = this.#life;
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

  hasFallback(): boolean {
    return this.#streams.hasFallback;
  }

  onState(state: ServerState): void {
    this.#life.baseChanged(state);
  }

  onBeat(): void {
    if (this.#ttys.isReported) this.#inventory.beat();
    else this.#probeAgain();
    this.#streams.beat();
  }

  onGone(error: AppError): void {
    this.#streams.closeAll(error);
    this.#inventory.clear();
  }

  onPresence(): void {
    this.#streams.checkPresence();
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

  /** Our clients leave these sessions before they end. The server goes with its last session: then there is nobody to ask. */
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
      // The server went with it.
      if (!(isLast && error instanceof AppError && error.code === "CONNECTION_LOST")) throw error;
    }
    if (isLast) await Promise.all(closed);
    else await this.#inventory.refresh();
  }

  #probeAgain(): void {
    if (this.#life.serverState === "ready") this.#inventory.ttysChanged();
  }

  #emit(events: readonly ServerEvent[]): void {
    for (const event of events) {
      if (event.kind === "pane-exited") this.#streams.declareExit(event.pane, event.status);
      if (event.kind === "pane-closed") this.#streams.paneGone(event.pane);
      this.#listeners.tell(event);
    }
  }
}
