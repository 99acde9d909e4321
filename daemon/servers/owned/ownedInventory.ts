/**
 * Keeps an owned server's inventory up to date and reports changes: tmux's notifications and the event pane say that
 * something happened, and a listing shows what. A change reaches the panes' streams first, then the subscribers.
 */
import { AppError, isCutShort } from "../../../protocol/errors.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import {
  continuePane,
  killWindowOnlyIn,
  linkWindow,
  linkWindowOnce,
  listPanesWhere,
  turnPanesOn,
  unsetPaneOption,
  unsetWindowOption,
} from "../../../protocol/command/build.ts";
import {
  decodePaneIds,
  identityText,
  type PaneRow,
  type ServerIdentity,
  type SessionRow,
  STRAY_OPTION,
  type WindowLink,
} from "../../../protocol/command/formats.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import { noConnection } from "../../connection/connectionErrors.ts";
import type { Checkup } from "../../connection/checkup.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Host } from "../../host/host.ts";
import { SingleFlight } from "../../time/singleFlight.ts";
import type { Clock } from "../../time/clock.ts";
import { DeathWatch } from "./deathWatch.ts";
import { isClientReport } from "../clientReports.ts";
import { isHubName, type PaneEvent, TITLE_OPTION, titleReported } from "./hub.ts";
import { HubGuard } from "./hubGuard.ts";
import { type AttachedHub, sessionsByUse } from "./hubStartup.ts";
import { InventoryStore } from "../inventory/inventoryStore.ts";
import { InventoryRefresher } from "../inventory/inventoryRefresher.ts";
import { PacedProbe } from "../pacedProbe.ts";
import type { PaneRegistry } from "../paneRegistry.ts";
import { probeForEnd } from "../serverEnd.ts";
import type { Listeners } from "../listeners.ts";
import type { ServerEvent } from "../../tmux/inventory.ts";

/**
 * Programs may change titles very often; tmux reports a pane's first change and then no more until we have read its title
 * (`titleHook`). A spinner changes ten times a second; nobody needs each change, and a hundred spinners must cost little.
 */
const TITLE_PROBE_INTERVAL_MS = 50;

interface OwnedInventoryOptions {
  readonly host: Host;
  readonly clock: Clock;
  readonly panes: PaneRegistry;
  /** @throws AppError CONNECTION_LOST while there is none. */
  readonly connection: () => ControlConnection;
  readonly listeners: Listeners<ServerEvent>;
  /** Called when a listing is complete, or everything is gone. */
  readonly onComplete: () => void;
  /** tmux is silent although it should have said something. */
  readonly onLate: () => void;
  readonly log: ((event: string, fields: object) => void) | undefined;
}

export class OwnedInventory {
  readonly inventory: InventoryStore;
  readonly refresher: InventoryRefresher;
  readonly guard: HubGuard;
  readonly #options: OwnedInventoryOptions;
  readonly #titles: PacedProbe;
  readonly #deaths: DeathWatch;
  #hub: AttachedHub | undefined;
  #identity: ServerIdentity | undefined;

  constructor(options: OwnedInventoryOptions) {
    this.#options = options;
    const { processes } = options.host;
    this.inventory = new InventoryStore(processes);
    const onError = (error: unknown): void => this.#listingFailed(error);
    this.refresher = new InventoryRefresher({
      connection: () => this.#hub?.connection ?? options.connection(),
      onTopology: (rows, links) => this.#applyTopology(rows, links),
      onPanes: (rows) => this.#applyPanes(rows),
      strays: () => [...this.inventory.strays(), ...this.#unknownStreams()],
      onPlaces: (asked, places) => {
        const { events, windows } = this.inventory.applyPlaces(asked, places);
        this.emit(events);
        for (const pane of asked) if (!places.has(pane)) options.panes.closePane(pane);
        return windows;
      },
      onComplete: options.onComplete,
      onError,
    });
    const titles = new SingleFlight(() => this.#readTitles(), onError);
    this.#titles = new PacedProbe({
      clock: options.clock,
      intervalMs: TITLE_PROBE_INTERVAL_MS,
      probe: () => titles.soon(),
    });
    this.#deaths = new DeathWatch({
      host: options.host,
      clock: options.clock,
      inventory: this.inventory,
      connection: () => this.#hub?.connection,
      serverPid: () => this.serverPid,
      onChanged: (pane) => this.paneChanged(pane),
      onError,
    });
    const { clock, panes, log, onLate } = options;
    const onMoved = (): void => this.refresher.topologyChanged();
    this.guard = new HubGuard({ clock, inventory: this.inventory, panes, log, hub: () => this.#hub, onMoved, onLate });
  }

  /** See `ServerStatus`. */
  get identity(): string | undefined {
    return this.#identity === undefined ? undefined : identityText(this.#identity);
  }

  /** The server's pid, if known. */
  get serverPid(): number | undefined {
    return this.#identity?.pid;
  }

  /** Call when a connection is ready; lists everything. */
  async attached(hub: AttachedHub): Promise<void> {
    const known = this.#identity;
    // Another server, or the first one: all ids are new (docs/tmuxFacts.md 8).
    if (known?.pid !== hub.pid || known.startSec !== hub.startSec) {
      this.emit(this.inventory.clear());
      // The same ids will name other things.
      this.#options.onComplete();
    }
    this.#identity = hub;
    this.#hub = hub;
    this.inventory.features = hub.connection.features;
    await this.refresher.refreshAll();
    this.guard.begin();
  }

  /**
   * Call when the connection is gone; the inventory is kept until the next one. If the server has ended as well, so has
   * everything in it, which is reported before there is another server.
   */
  detached(lost: AppError, socketPath: string): void {
    if (this.#hub === undefined) return;
    this.#hub = undefined;
    this.guard.end();
    this.#titles.clear();
    this.#deaths.settler.clear();
    const { clock, onComplete } = this.#options;
    probeForEnd({
      host: this.#options.host,
      clock,
      lost,
      socketPath,
      pid: this.#identity?.pid,
      onEnded: () => {
        if (this.#hub !== undefined) return;
        this.#identity = undefined;
        this.emit(this.inventory.clear());
        onComplete();
      },
    });
  }

  close(): void {
    this.guard.end();
    this.#deaths.close();
  }

  /** @throws AppError CONNECTION_LOST */
  requireHub(): AttachedHub {
    if (this.#hub !== undefined) return this.#hub;
    throw noConnection();
  }

  /** A hook can be missed (see `PaneEvent`), so dead panes are listed with each heartbeat. */
  heartbeat(): void {
    this.#deaths.heartbeat();
    this.guard.outputs.probe();
  }

  /** The heartbeat's query about our client. @throws AppError CONNECTION_LOST */
  checkup(): Checkup {
    return this.guard.checkup(this.requireHub());
  }

  paneEvent(event: PaneEvent): void {
    if (event === "title") this.#titles.changed();
    else if (event === "off") this.guard.turnedOff();
    else this.#deaths.settler.probe();
  }

  paneChanged(pane: PaneId): void {
    const window = this.inventory.findPane(pane)?.window;
    if (window === undefined) this.refresher.unknownPaneChanged(pane);
    else this.refresher.windowChanged(window);
  }

  notified(notification: Notification): void {
    this.guard.noticed(notification);
    if (isClientReport(notification)) return;
    const { kind } = notification;
    // Another hub ends with its client, and tmux does not report what a hook does.
    const isHubs = kind === "client-session-changed" || kind === "client-detached";
    if (isHubs || (kind === "subscription-changed" && this.inventory.features.reportsPaneChanges))
      this.refresher.topologyChanged();
    else if (kind === "pause") {
      this.#options.panes.declareHole(notification.pane, "paused");
      this.#hub?.connection.send(continuePane(notification.pane), "none", () => undefined);
    } else this.refresher.notified(notification);
  }

  emit(events: readonly ServerEvent[]): void {
    const { panes, listeners } = this.#options;
    for (const event of events) {
      if (event.kind === "pane-exited") panes.declareExit(event.pane, event.status);
      if (event.kind === "pane-closed") panes.closePane(event.pane);
      listeners.emit(event);
    }
  }

  #applyTopology(rows: readonly SessionRow[], links: readonly WindowLink[]): readonly WindowId[] {
    const hub = this.requireHub();
    if (!links.some((link) => link.session === hub.session && link.window === hub.window)) {
      hub.connection.close(new AppError("CONNECTION_LOST", "the event pane was closed; reconnecting"));
      return [];
    }
    const hubs = new Set(rows.filter((row) => isHubName(row.name)).map((row) => row.session));
    this.guard.listed(links);
    // Before the listing is applied, while the panes of windows that are no longer in a session are still known.
    const home = sessionsByUse(rows).at(-1);
    this.#sweep(hub, hubs, home, links);
    const { events, unknownWindows } = this.inventory.applyTopology(
      rows.filter((row) => !hubs.has(row.session)),
      links.filter((link) => !hubs.has(link.session)),
    );
    this.emit(events);
    return unknownWindows;
  }

  #applyPanes(rows: readonly PaneRow[]): void {
    this.emit(this.inventory.applyPanes(rows));
    for (const row of rows) if (!row.dead) this.#options.panes.declareAlive(row.pane);
    this.#deaths.listed(rows);
  }

  /** Panes that printed something and closed before any listing contained them. */
  #unknownStreams(): readonly PaneId[] {
    const own = this.#hub?.pane;
    return this.#options.panes.streamed().filter((pane) => pane !== own && this.inventory.findPane(pane) === undefined);
  }

  async #readTitles(): Promise<void> {
    const { connection, hookIndex } = this.requireHub();
    const { body } = await connection.command(listPanesWhere(titleReported(hookIndex)));
    for (const pane of decodePaneIds(body)) {
      this.#hub?.connection.send(unsetPaneOption(pane, TITLE_OPTION), "none", () => undefined);
      this.paneChanged(pane);
    }
  }

  #listingFailed(error: unknown): void {
    if (isCutShort(error)) return;
    this.#options.log?.("inventory.failed", { error: String(error) });
  }

  /**
   * Keeps the hub's windows the same as those of all sessions. A window that is only in the hub has lost its session, and tmux
   * alone would have closed it, so it is closed (docs/tmuxFacts.md 30). A window that somebody created in the hub, where it is
   * invisible, is moved to the most recently used session (54). A window that is in a session but not in the hub was unlinked
   * by somebody, and is linked again, because we get no output from outside the hub.
   * @param hubs our hub and those of daemons that are ending
   * @param home the most recently used session that is not a hub
   * @param links every window of every session, including the hubs'
   */
  #sweep(
    hub: AttachedHub,
    hubs: ReadonlySet<SessionId>,
    home: SessionId | undefined,
    links: readonly WindowLink[],
  ): void {
    const inHub = new Set(links.filter((link) => link.session === hub.session).map((link) => link.window));
    const strays = new Set(links.filter((link) => link.stray).map((link) => link.window));
    const elsewhere = new Set(links.filter((link) => link.session !== hub.session).map((link) => link.window));
    const ignore = (): void => undefined;
    for (const window of inHub) {
      if (window === hub.window || elsewhere.has(window)) continue;
      if (strays.has(window)) {
        // If there is no session at all, it waits for one.
        if (home !== undefined)
          hub.connection.sendGroup([linkWindow(window, home), unsetWindowOption(window, STRAY_OPTION)], ignore);
        continue;
      }
      hub.connection.sendGroup(killWindowOnlyIn(window, hub.name), ignore);
    }
    for (const { session, window } of links) {
      if (hubs.has(session) || inHub.has(window)) continue;
      inHub.add(window);
      const listen = turnPanesOn(this.inventory.panesOf(window));
      hub.connection.sendGroup([...listen, ...linkWindowOnce(window, hub.session, hub.name)], ignore);
    }
  }
}
