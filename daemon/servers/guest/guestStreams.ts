/**
 * Which attach client carries a pane, and what ends that: the base connection carries the session that it is on, every
 * other session gets a control client of its own. A window that leaves a watched session ends its panes' streams,
 * even if it is back before anybody could notice, because what it wrote meanwhile did not reach us.
 */
import type { Notification } from "../../../protocol/control/notifications.ts";
import { AppError } from "../../../protocol/errors.ts";
import { byAge, type SessionId, type WindowId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import { notResponding } from "../../connection/connectionErrors.ts";
import { ControlConnection } from "../../connection/controlConnection.ts";
import { createNonce } from "../../connection/framing.ts";
import { introduce } from "../../connection/tmuxFeatures.ts";
import { isClientReport } from "../clientReports.ts";
import type { GuestBase, GuestBaseOptions } from "./guestBase.ts";
import { AttachClient, type AttachClientOptions, type AttachChannel, orAborted, resume } from "./attachClient.ts";
import { AttachClients } from "./attachClients.ts";
import { mayAttach } from "./guestPresence.ts";
import { attachCommand, guestClient } from "./guestProbe.ts";
import { askWritten, type WrittenWindows } from "../outputWatch.ts";
import type { PaneInfo } from "../../tmux/inventory.ts";

interface GuestStreamsOptions extends Pick<GuestBaseOptions, "spawn" | "gate" | "clock" | "inventory" | "life"> {
  readonly base: GuestBase;
  readonly retainBytes: number;
  readonly idleMs: number;
  readonly onListenerError: (error: unknown) => void;
}

export class GuestStreams {
  readonly #options: GuestStreamsOptions;
  readonly clients: AttachClients;
  readonly #left = new Map<AttachClient, Set<WindowId>>();

  constructor(options: GuestStreamsOptions) {
    const { clock, idleMs, life } = options;
    this.#options = options;
    this.clients = new AttachClients({
      clock,
      idleMs,
      onReopen: () => life.reopened(),
      make: (session, hooks) => this.#make(session, hooks),
    });
  }

  /** @throws AppError CONNECTION_LOST */
  clientFor({ id, window }: PaneInfo): AttachClient {
    const { state } = this.#options.life;
    const isResponsive = state !== "degraded" && state !== "closed";
    const carrying = isResponsive ? this.clients.carrying(id) : undefined;
    if (carrying !== undefined) return carrying;
    this.connection();
    const client = this.clients.forPane(id, this.#sessionsOf(window));
    if (client !== undefined) return client;
    // A pane's session may have ended, and the listing that says where the pane is now be under way.
    const hasSession = this.#options.inventory.known.sessions().some(({ windows }) => windows.includes(window));
    throw new AppError(
      "CONNECTION_LOST",
      hasSession
        ? `pane ${id} is in a session that ends when nobody is attached to it; attach to it first`
        : `the session of pane ${id} has ended; try again in a moment if the pane was moved to another one`,
    );
  }

  /** No client of ours stays where only we are left. */
  checkPresence(): void {
    const { presence } = this.#options.base;
    for (const client of this.clients.all()) {
      if (!mayAttach(presence, client.session))
        client.close(new AppError("CONNECTION_LOST", "the last user of the session has left"));
    }
  }

  /** Windows or panes may have moved; `areWindowsNew`: every window's place was listed. */
  checkPlaces(areWindowsNew: boolean): void {
    const { known } = this.#options.inventory;
    const strays = new Set(known.strays());
    // A client that is still being attached to a session that has ended is closed before it gets there.
    for (const client of areWindowsNew ? this.clients.all() : []) {
      if (known.session(client.session) === undefined) client.close(sessionEnded(client.session));
    }
    this.clients.checkPlaces((pane, client) => {
      const window = known.findPane(pane)?.window;
      // Where a stray is will be known in a moment.
      if (window === undefined || strays.has(pane)) return true;
      if (areWindowsNew && this.#left.get(client)?.has(window) === true) return false;
      return known.hasWindow(client.session, window) === true;
    });
    if (areWindowsNew) this.#left.clear();
    for (const client of this.clients.all()) client.reports.look();
  }

  /** The tmux server's process; undefined while it does not respond. */
  get serverPid(): number | undefined {
    return this.#options.base.serverPid;
  }

  /** For a command. @throws AppError CONNECTION_LOST */
  connection(): ControlConnection {
    return this.#fallback() ?? this.#options.base.connection();
  }

  /** The connection that stays on one session. @throws AppError CONNECTION_LOST */
  baseConnection(): ControlConnection {
    return this.#options.base.connection();
  }

  baseWindows(): readonly WindowId[] {
    const { base, inventory } = this.#options;
    return base.place === undefined ? [] : (inventory.known.session(base.place)?.windows ?? []);
  }

  /** There is another client to ask when the base is lost. */
  get hasFallback(): boolean {
    return this.clients.all().some(({ attached }) => attached !== undefined);
  }

  /** Checks that every client is still as it was made; the base connection checks itself. */
  heartbeat(): void {
    const clients = this.clients.all().filter(({ attached }) => attached !== undefined);
    for (const client of clients) if (!this.#options.base.carries(client)) client.heartbeat();
    const probe = (written?: WrittenWindows): void => {
      for (const client of clients) client.outputs.probe(written);
    };
    // What concerns all of them is asked once; each asks by itself where that is not enough.
    if (clients.length < 2) probe();
    else {
      const sinceSec = Math.min(...clients.map(({ outputs }) => outputs.sinceSec));
      askWritten(this.connection(), sinceSec).then(probe, () => probe());
    }
  }

  /** What a heartbeat checks, now. */
  async check(): Promise<void> {
    const clients = this.clients.all().filter((client) => !this.#options.base.carries(client));
    await Promise.all(clients.map((client) => client.check()));
  }

  /** Where a window can be watched: first where we are anyway, then where somebody is, then the oldest session. */
  #sessionsOf(window: WindowId): readonly SessionId[] {
    const { presence, session: ours } = this.#options.base;
    const rank = (id: SessionId): number =>
      id === ours ? 0 : presence.some((row) => row.session === id && row.others > 0) ? 1 : 2;
    return this.#options.inventory.known
      .sessions()
      .filter(({ id, windows }) => windows.includes(window) && mayAttach(presence, id))
      .map(({ id }) => id)
      .sort((a, b) => rank(a) - rank(b) || byAge(a, b));
  }

  #make(session: SessionId, hooks: Pick<AttachClientOptions, "onIdle" | "onClosed">): AttachClient {
    const { base, inventory, life, clock, gate, retainBytes, onListenerError } = this.#options;
    const { known } = inventory;
    const windows = (): readonly WindowId[] => known.session(session)?.windows ?? [];
    return new AttachClient({
      session,
      epoch: createNonce().slice(0, 10),
      clock,
      retainBytes,
      waiting: () => gate.waiting,
      open: (client, signal) => this.#open(client, signal),
      onListenerError,
      onRevived: (pane) => inventory.paneChanged(pane),
      windows,
      isThere: (id, window) => known.hasWindow(id, window) !== false,
      onMoved: () => inventory.refresher.topologyChanged(),
      panesOf: (window) => known.panesOf(window),
      // A client without output makes tmux read (control.c `control_pane_offset`), and so does anybody at a terminal.
      mayBeUnread: () =>
        base.presence.every(({ others }) => others === 0) ? windows().flatMap((window) => known.panesOf(window)) : [],
      otherReader: (client) => this.#otherReader(client),
      isServerIdle: base.isServerIdle,
      onIdle: hooks.onIdle,
      onAttached: () => life.clientsChanged(),
      onClosed: (client, ended) => {
        this.#left.delete(client);
        hooks.onClosed(client, ended);
        life.clientsChanged();
      },
    });
  }

  async #open(client: AttachClient, signal: AbortSignal): Promise<AttachChannel> {
    const { base, inventory } = this.#options;
    const noticed = (notification: Notification): void => {
      client.noticed(notification);
      this.#noteLeft(client, notification);
    };
    if (base.session === client.session) return base.carry(client, noticed);
    const onNotification = (notification: Notification): void => {
      noticed(notification);
      // The base connection hears of everything but what happens inside this session's windows.
      const isBaseAway = base.state === "connecting" && !isClientReport(notification);
      if (notification.kind === "layout-change" || isBaseAway) inventory.refresher.notified(notification);
    };
    const channel = await this.#attach(client, signal, onNotification);
    // Until now sizes in this session were not reported to us.
    for (const window of inventory.known.session(client.session)?.windows ?? [])
      inventory.refresher.windowChanged(window);
    return channel;
  }

  /**
   * A control client, attached to one session and nowhere else: it is verified to be where it was sent, on the server that the
   * base connection knows, and it leaves when tmux moves it (docs/tmuxFacts.md 32b).
   * @throws AppError CONNECTION_LOST when it could not be attached there
   */
  async #attach(
    client: AttachClient,
    signal: AbortSignal,
    onNotification: (notification: Notification) => void,
  ): Promise<AttachChannel> {
    const { spawn, clock, gate, base } = this.#options;
    // The server that is meant; ids mean nothing on another.
    const { identity } = base;
    const entering = gate.enter(signal);
    if (gate.waiting !== undefined) client.heldBack();
    const arrived = await entering;
    let connection: ControlConnection;
    try {
      connection = new ControlConnection({
        ...guestClient(spawn, attachCommand(client.session), gate.server),
        onOutput: (paneNumber, line, from, to) => client.takeEscaped(paneNumber, line, from, to),
        onNotification: (notification) => {
          gate.noticed(notification);
          if (notification.kind === "pause") resume(connection, client, notification.pane);
          else if (notification.kind !== "session-changed") onNotification(notification);
          else if (notification.session !== client.session) client.close(elsewhere());
        },
        onChunkEnd: () => client.announce(),
        onClosed: (error) => {
          gate.disturbed();
          client.close(error);
        },
      });
    } catch (error) {
      // It could not be started: no pty or process was left.
      arrived();
      throw error;
    }
    const introduced = introduce(connection);
    const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => connection.close(notResponding()));
    const settled = (): void => {
      timer.cancel();
      arrived();
    };
    introduced.then(settled, settled);
    // Even one that is no longer wanted stays until tmux has replied to it.
    const close = (): void => gate.leave(() => connection.close());
    try {
      const here = await orAborted(introduced, signal);
      const isMeant = here?.pid === identity?.pid && here?.startSec === identity?.startSec;
      if (here?.session !== client.session || !isMeant) throw elsewhere();
    } catch (error) {
      close();
      throw error;
    }
    return { connection, close };
  }

  #otherReader(client: AttachClient): ControlConnection | undefined {
    const { base } = this.#options;
    if (!base.carries(client) && base.state === "ready") return base.connection();
    return this.clients.all().find((other) => other !== client && other.attached !== undefined)?.attached;
  }

  #fallback(): ControlConnection | undefined {
    if (this.#options.life.state !== "covered") return undefined;
    return this.clients.all().find(({ attached }) => attached !== undefined)?.attached;
  }

  #noteLeft(client: AttachClient, notification: Notification): void {
    if (notification.kind !== "window-close") return;
    const { window, linked } = notification;
    const { known } = this.#options.inventory;
    const isOurs = known.hasWindow(client.session, window) === true;
    const isOnlyOurs = known.windowsOnlyIn(client.session).includes(window);
    // Where tmux does not say whose it was: ours, if it was in no other session.
    const hasLeft = !linked || (!known.features.reportsOwnUnlink && isOnlyOurs);
    if (isOurs && hasLeft) this.#left.set(client, (this.#left.get(client) ?? new Set()).add(window));
  }
}

const elsewhere = (): AppError =>
  new AppError("CONNECTION_LOST", "the session no longer exists; list the sessions again");

const sessionEnded = (session: SessionId): AppError =>
  new AppError("CONNECTION_LOST", `session ${session} has ended; list the sessions again`);
