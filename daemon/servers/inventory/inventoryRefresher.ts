/**
 * Lists what exists in tmux when a notification says that something changed: at most one listing at a time, and one more if
 * something changed meanwhile. There is no timer; without a notification nothing is listed.
 */
import {
  displayMessage,
  listAllPanes,
  listAllWindows,
  listSessions,
  listWindowPanes,
} from "../../../protocol/command/build.ts";
import {
  PANE_PLACES,
  PANES,
  type PaneRow,
  type SessionRow,
  SESSIONS,
  type WindowLink,
  WINDOW_LINKS,
} from "../../../protocol/command/formats.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import type { PaneId, WindowId } from "../../../protocol/ids.ts";
import { isRefusal } from "../../connection/commandQueue.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";

/** If more windows than this changed, listing all of them is cheaper. */
const MAX_SINGLE_WINDOWS = 8;
/** The same, for panes whose window is looked up. */
const MAX_SINGLE_PANES = 64;

interface RefresherOptions {
  readonly connection: () => ControlConnection;
  /** Takes a complete listing; returns the windows whose panes must be listed in addition to the changed ones. */
  readonly onTopology: (rows: readonly SessionRow[], links: readonly WindowLink[]) => readonly WindowId[];
  readonly onPanes: (rows: readonly PaneRow[]) => void;
  /** Panes that were in none of the listed windows: they moved or are gone. */
  readonly strays: () => readonly PaneId[];
  /** Takes their windows; returns the windows to list for panes that moved. */
  readonly onPlaces: (asked: readonly PaneId[], places: ReadonlyMap<PaneId, WindowId>) => readonly WindowId[];
  /** Called when a listing is complete; the inventory is consistent until the next one begins. */
  readonly onComplete: () => void;
  /** Further queries, made before a listing and never during one. */
  readonly onProbe?: (() => Promise<void>) | undefined;
  /** Called when a listing failed; the next change, `refresh` or `resume` repeats it. */
  readonly onError: (error: unknown) => void;
}

export class InventoryRefresher {
  readonly #options: RefresherOptions;
  #probe = false;
  #topology = false;
  #all = false;
  readonly #windows = new Set<WindowId>();
  readonly #unknownPanes = new Set<PaneId>();
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: RefresherOptions) {
    this.#options = options;
  }

  /** Calls `onProbe` after the current listing. */
  probe(): void {
    this.#probe = true;
    this.#start();
  }

  topologyChanged(): void {
    this.#topology = true;
    this.#start();
  }

  windowChanged(window: WindowId): void {
    this.#windows.add(window);
    this.#start();
  }

  /** Lists these windows and all places; resolves after a listing that was requested after this call. */
  list(windows: readonly WindowId[]): Promise<void> {
    for (const window of windows) this.#windows.add(window);
    return this.refresh();
  }

  /** Call when anything may have changed and it is unknown what. */
  everythingChanged(): void {
    this.#all = true;
    this.topologyChanged();
  }

  /** Call for a pane that is in no listing yet; the current listing may be older than the pane. */
  unknownPaneChanged(pane: PaneId): void {
    this.#unknownPanes.add(pane);
    this.topologyChanged();
  }

  /** Lists again what a notification says has changed. */
  notified(notification: Notification): void {
    switch (notification.kind) {
      case "sessions-changed":
      case "session-renamed":
      case "session-window-changed":
      case "window-add":
      case "window-close":
        this.topologyChanged();
        return;
      case "layout-change":
      case "window-renamed":
      case "window-pane-changed":
        this.windowChanged(notification.window);
        return;
      case "subscription-changed":
        this.everythingChanged();
        return;
      case "client-session-changed":
      case "client-detached":
      case "session-changed":
      case "pane-mode-changed":
      case "pause":
      case "continue":
      case "exit":
      case "other":
        return;
    }
  }

  /** Repeats listings that failed while tmux did not respond. */
  resume(): void {
    if (this.#probe || this.#topology || this.#all || this.#windows.size > 0) this.#start();
  }

  /** Like `refresh`, but lists every pane of every window, because anything may have changed unnoticed. */
  refreshAll(): Promise<void> {
    this.#all = true;
    return this.refresh();
  }

  /** Resolves after a listing that was requested after this call. @throws AppError CONNECTION_LOST and others */
  refresh(): Promise<void> {
    this.#topology = true;
    if (this.#running === undefined) {
      this.#running = this.#run();
      return this.#running;
    }
    this.#next ??= this.#running.then(
      () => this.#follow(),
      () => this.#follow(),
    );
    return this.#next;
  }

  #follow(): Promise<void> {
    this.#next = undefined;
    return this.#running ?? this.refresh();
  }

  #start(): void {
    if (this.#running !== undefined) return;
    // One turn later, because the notifications of one change come together.
    this.#running = Promise.resolve().then(() => this.#run());
    this.#running.catch(this.#options.onError);
  }

  async #run(): Promise<void> {
    const probe = this.#probe;
    this.#probe = false;
    let [topology, all] = [false, false];
    let windows: readonly WindowId[] = [];
    try {
      if (probe) await this.#options.onProbe?.();
      // Changes found by the probe are listed at once; until then the inventory is inconsistent.
      [topology, all, windows] = [this.#topology, this.#all, [...this.#windows]];
      this.#topology = false;
      this.#all = false;
      this.#windows.clear();
      await this.#list(topology, all, windows);
    } catch (error) {
      // The requests stay pending; a failed listing is not repeated on its own.
      this.#running = undefined;
      this.#probe ||= probe;
      this.#topology ||= topology;
      this.#all ||= all;
      for (const window of windows) this.#windows.add(window);
      throw error;
    }
    this.#running = undefined;
    this.#options.onComplete();
    this.resume();
  }

  async #list(topology: boolean, all: boolean, changed: readonly WindowId[]): Promise<void> {
    const windows = new Set(changed);
    const unknown = [...this.#unknownPanes];
    if (topology) for (const window of await this.#listTopology()) windows.add(window);
    if (all) this.#options.onPanes(await this.#listAllPanes());
    else if (windows.size > 0) this.#options.onPanes(await this.#listPanes([...windows]));
    const strays = [...new Set([...this.#options.strays(), ...unknown])];
    for (const pane of unknown) this.#unknownPanes.delete(pane);
    if (strays.length === 0) return;
    const moved = this.#options.onPlaces(strays, await this.#locate(strays));
    if (moved.length > 0) this.#options.onPanes(await this.#listPanes(moved));
  }

  async #listTopology(): Promise<readonly WindowId[]> {
    const connection = this.#options.connection();
    const [sessions, links] = await Promise.all([
      connection.foreignRows(SESSIONS, listSessions),
      connection.rows(WINDOW_LINKS, listAllWindows),
    ]);
    return this.#options.onTopology(sessions, links);
  }

  async #listPanes(windows: readonly WindowId[]): Promise<readonly PaneRow[]> {
    const connection = this.#options.connection();
    if (windows.length > MAX_SINGLE_WINDOWS) return this.#listAllPanes();
    const listings = await Promise.all(
      windows.map(async (window) => {
        try {
          return await connection.foreignRows(PANES, (format) => listWindowPanes(window, format));
        } catch (error) {
          // The window closed meanwhile; its own notification follows.
          if (isRefusal(error)) return [];
          throw error;
        }
      }),
    );
    return listings.flat();
  }

  async #listAllPanes(): Promise<readonly PaneRow[]> {
    return this.#options.connection().foreignRows(PANES, listAllPanes);
  }

  async #locate(panes: readonly PaneId[]): Promise<ReadonlyMap<PaneId, WindowId>> {
    const connection = this.#options.connection();
    const listings =
      panes.length > MAX_SINGLE_PANES
        ? [connection.rows(PANE_PLACES, listAllPanes)]
        : panes.map((pane) => connection.rows(PANE_PLACES, (format) => displayMessage(format, pane)));
    const places = (await Promise.all(listings)).flat();
    return new Map(places.map(({ pane, window }) => [pane, window]));
  }
}
