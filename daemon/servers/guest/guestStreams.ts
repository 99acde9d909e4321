/**
 * Which link carries a pane, and what ends that: the base connection lends itself to the session it is on, every other
 * session gets a control client of its own. A window that leaves a watched session takes its panes' streams along, also
 * when it is back before anybody could look, because what it wrote meanwhile did not reach us.
 */
import type { Notification } from "../../../protocol/control/notifications.ts";
import { AppError, shuttingDown } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import { createNonce } from "../../connection/framing.ts";
import type { ExitStatus } from "../../tmux/outputSource.ts";
import type { Clock } from "../../time/clock.ts";
import type { AttachGate } from "./attachGate.ts";
import { attachLink, resume } from "./guestAttach.ts";
import type { GuestBase } from "./guestBase.ts";
import type { GuestInventory } from "./guestInventory.ts";
import { GuestLink, type GuestLinkOptions, type LinkChannel } from "./guestLink.ts";
import { GuestLinks } from "./guestLinks.ts";
import type { GuestSpawn } from "./guestLook.ts";
import { mayAttach } from "./guestPresence.ts";
import { askWritten, type WrittenWindows } from "../outputWatch.ts";
import type { PaneInfo, ServerCounters, ServerState } from "../../tmux/inventory.ts";

interface GuestStreamsOptions {
  readonly spawn: GuestSpawn;
  readonly clock: Clock;
  readonly base: GuestBase;
  readonly gate: AttachGate;
  readonly inventory: GuestInventory;
  readonly ringBytes: number;
  readonly idleMs: number;
  readonly onListenerError: (error: unknown) => void;
  readonly onReopen: () => void;
  /** One fewer that could stand in for the base. */
  readonly onLinkClosed: () => void;
}

export class GuestStreams {
  readonly #options: GuestStreamsOptions;
  readonly #links: GuestLinks;
  /** The link whose output the base connection carries. */
  #borrower: GuestLink | undefined;
  readonly #left = new Map<GuestLink, Set<WindowId>>();

  constructor(options: GuestStreamsOptions) {
    const { clock, idleMs, onReopen } = options;
    this.#options = options;
    this.#links = new GuestLinks({ clock, idleMs, onReopen, make: (session, hooks) => this.#make(session, hooks) });
  }

  /** @throws AppError CONNECTION_LOST */
  linkFor({ id, window }: PaneInfo): GuestLink {
    const { base } = this.#options;
    const isAnswering = base.state === "ready" || base.state === "connecting";
    const carrying = isAnswering ? this.#links.carrying(id) : undefined;
    if (carrying !== undefined) return carrying;
    this.connection();
    const link = this.#links.forPane(id, this.#sessionsOf(window));
    if (link !== undefined) return link;
    throw new AppError("CONNECTION_LOST", `pane ${id} is in a session that ends when nobody is attached to it`);
  }

  takeFromBase(paneNumber: number, line: Uint8Array, from: number, to: number): void {
    this.#borrower?.takeEscaped(paneNumber, line, from, to);
  }

  announceFromBase(): void {
    this.#borrower?.announce();
  }

  notifiedByBase(notification: Notification, connection: ControlConnection): void {
    if (notification.kind === "pause") resume(connection, this.#borrower, notification.pane);
    this.#borrower?.noticed(notification);
    if (this.#borrower !== undefined) this.#noteLeft(this.#borrower, notification);
  }

  /** The base connection is lost, or on another session. */
  baseLeft(error: AppError): void {
    this.#borrower?.close(error);
  }

  /** Nobody of ours stays where only we are left. */
  checkPresence(): void {
    const { presence } = this.#options.base;
    for (const link of this.#links.all()) {
      if (!mayAttach(presence, link.session)) link.close(new AppError("CONNECTION_LOST", "its last user has left"));
    }
  }

  checkPlaces(areWindowsNew: boolean): void {
    const { known } = this.#options.inventory;
    const strays = new Set(known.strays());
    // One that is still on its way to a session that has ended is called back before it is there.
    for (const link of areWindowsNew ? this.#links.all() : []) {
      if (known.session(link.session) === undefined) link.close(sessionEnded(link.session));
    }
    this.#links.checkPlaces((pane, link) => {
      const window = known.findPane(pane)?.window;
      // Where a stray is will be known in a moment.
      if (window === undefined || strays.has(pane)) return true;
      if (areWindowsNew && this.#left.get(link)?.has(window) === true) return false;
      return known.session(link.session)?.windows.includes(window) === true;
    });
    if (areWindowsNew) this.#left.clear();
  }

  /** Whether the server answers: while the base connection comes back, any link that is attached is asked instead. */
  get state(): ServerState {
    return this.#standIn() === undefined ? this.#options.base.state : "ready";
  }

  /** For a command. @throws AppError CONNECTION_LOST */
  connection(): ControlConnection {
    return this.#standIn() ?? this.#options.base.connection();
  }

  /** A link would be asked if the base were lost now. */
  get hasAttached(): boolean {
    return this.#links.all().some(({ attached }) => attached !== undefined);
  }

  /** Looks whether every link is as it was made; what the base connection is like, is its own concern. */
  beat(): void {
    const links = this.#links.all().filter(({ attached }) => attached !== undefined);
    for (const link of links) if (link !== this.#borrower) link.beat();
    const look = (written?: WrittenWindows): void => {
      for (const link of links) link.lookForSilent(written);
    };
    // What concerns all of them is asked once; each asks by itself where that is not enough.
    if (links.length < 2) look();
    else {
      const sinceSec = Math.min(...links.map(({ heardUntilSec }) => heardUntilSec));
      askWritten(this.connection(), sinceSec).then(look, () => look());
    }
  }

  /** As a beat asks, now. */
  async check(): Promise<void> {
    const links = this.#links.all().filter((link) => link !== this.#borrower);
    await Promise.all(links.map((link) => link.check()));
  }

  declareExit(pane: PaneId, status: ExitStatus): void {
    this.#links.carrying(pane)?.declareExit(pane, status);
  }

  declareAlive(pane: PaneId): void {
    this.#links.carrying(pane)?.declareAlive(pane);
  }

  paneGone(pane: PaneId): void {
    this.#links.carrying(pane)?.closePane(pane);
  }

  leaveSession(session: SessionId): void {
    this.#links.get(session)?.close(new AppError("CONNECTION_LOST", `session ${session} is being ended`));
  }

  /** tmux is silent: who waits is told. */
  abandonPending(): void {
    const error = new AppError("CONNECTION_LOST", "tmux does not answer; is its process stopped? (pgrep tmux)");
    for (const link of this.#links.all()) link.abandonPending(error);
  }

  counters(): ServerCounters {
    return this.#links.counters();
  }

  closeAll(error: AppError): void {
    for (const link of this.#links.all()) link.close(error);
  }

  /** Safe to call twice. */
  close(): void {
    this.#links.close(shuttingDown());
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
      .sort((a, b) => rank(a) - rank(b) || Number(a.slice(1)) - Number(b.slice(1)));
  }

  #make(session: SessionId, hooks: Pick<GuestLinkOptions, "onIdle" | "onClosed">): GuestLink {
    return new GuestLink({
      session,
      epoch: createNonce().slice(0, 10),
      clock: this.#options.clock,
      retainBytes: this.#options.ringBytes,
      open: (link, signal) => this.#open(link, signal),
      onListenerError: this.#options.onListenerError,
      onRevived: (pane) => this.#options.inventory.paneChanged(pane),
      windows: () => this.#options.inventory.known.session(session)?.windows ?? [],
      isThere: (id, window) => this.#options.inventory.known.session(id)?.windows.includes(window) !== false,
      onMoved: () => this.#options.inventory.topologyChanged(),
      panesOf: (window) => this.#options.inventory.known.panesOf(window),
      // A client without output makes tmux read (control.c `control_pane_offset`), and so does anybody at a terminal.
      areReadersOurs: () => this.#options.base.presence.every(({ others }) => others === 0),
      otherReader: (link) => this.#otherReader(link),
      onIdle: hooks.onIdle,
      onClosed: (link, ended) => {
        if (this.#borrower === link) this.#borrower = undefined;
        this.#left.delete(link);
        hooks.onClosed(link, ended);
        this.#options.onLinkClosed();
      },
    });
  }

  async #open(link: GuestLink, signal: AbortSignal): Promise<LinkChannel> {
    const { base, inventory, spawn, clock, gate } = this.#options;
    if (base.session === link.session) {
      this.#borrower = link;
      return base.borrow();
    }
    const onNotification = (notification: Notification): void => {
      link.noticed(notification);
      this.#noteLeft(link, notification);
      // The base connection hears of everything but what happens inside this session's windows.
      if (notification.kind === "layout-change" || base.state === "connecting") inventory.notified(notification);
    };
    const channel = await attachLink({ spawn, clock, link, signal, identity: base.identity, gate, onNotification });
    // Until now nobody told us of sizes in this session.
    for (const window of inventory.known.session(link.session)?.windows ?? []) inventory.windowChanged(window);
    return channel;
  }

  #otherReader(link: GuestLink): ControlConnection | undefined {
    const { base } = this.#options;
    if (this.#borrower !== link && base.state === "ready") return base.connection();
    return this.#links.all().find((other) => other !== link && other.attached !== undefined)?.attached;
  }

  #standIn(): ControlConnection | undefined {
    if (this.#options.base.state !== "connecting") return undefined;
    for (const link of this.#links.all()) if (link.attached !== undefined) return link.attached;
    return undefined;
  }

  #noteLeft(link: GuestLink, notification: Notification): void {
    if (notification.kind !== "window-close") return;
    const { window, linked } = notification;
    const { known } = this.#options.inventory;
    const isOurs = known.session(link.session)?.windows.includes(window) === true;
    const isOnlyOurs = known.windowsOnlyIn(link.session).includes(window);
    // Where tmux does not say whose it was: ours, if it was in no other session.
    const hasLeft = !linked || (!known.features.tellsOwnUnlink && isOnlyOurs);
    if (isOurs && hasLeft) this.#left.set(link, (this.#left.get(link) ?? new Set()).add(window));
  }
}

const sessionEnded = (session: SessionId): AppError =>
  new AppError("CONNECTION_LOST", `session ${session} has ended; list the sessions again`);
