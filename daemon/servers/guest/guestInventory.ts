/**
 * What exists on a guest's server. tmux tells a control client of windows everywhere but of panes only in the session it
 * is attached to, so terminals that come and go are a second reason to list (`ttyWatch.ts`): ids first, and then all of
 * those windows in which something differs.
 */
import { listAllPanes, startProgram } from "../../../protocol/command/build.ts";
import { PROGRAMS } from "../../../protocol/command/formats.ts";
import { isCutShort } from "../../../protocol/errors.ts";
import type { PaneId, WindowId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { HostProcesses } from "../../host/hostProcesses.ts";
import type { Clock } from "../../time/clock.ts";
import { ExitSettler } from "../exitSettler.ts";
import { InventoryStore } from "../inventory/inventoryStore.ts";
import { InventoryRefresher } from "../inventory/inventoryRefresher.ts";
import { SilentChanges } from "../inventory/silentChanges.ts";
import type { ServerEvent } from "../../tmux/inventory.ts";

/** What `GuestStreams` says about the server, and what it is told. */
interface ListedStreams {
  readonly serverPid: number | undefined;
  connection(): ControlConnection;
  baseConnection(): ControlConnection;
  /** Of the session that the base is on. */
  baseWindows(): readonly WindowId[];
  checkPlaces(areWindowsNew: boolean): void;
}

interface GuestInventoryOptions {
  readonly processes: HostProcesses;
  readonly clock: Clock;
  /** Who is asked about the server, and whose streams depend on what was listed. */
  readonly streams: () => ListedStreams;
  readonly log: (event: string, fields: object) => void;
  readonly onEvents: (events: readonly ServerEvent[]) => void;
  /** The pane's program is running. */
  readonly onAlive: (pane: PaneId) => void;
  /** A listing is complete, or everything is gone. */
  readonly onComplete: () => void;
}

export class GuestInventory {
  readonly known: InventoryStore;
  readonly refresher: InventoryRefresher;
  /** To be probed when a terminal came or went. */
  readonly settler: ExitSettler;
  /** To be followed when somebody wants changes that tmux reports to nobody. */
  readonly silent: SilentChanges;
  readonly #options: GuestInventoryOptions;
  #fresh: ControlConnection | undefined;

  constructor(options: GuestInventoryOptions) {
    this.#options = options;
    this.known = new InventoryStore(options.processes);
    this.refresher = new InventoryRefresher({
      connection: () => this.#connection(),
      onTopology: (rows, links) => {
        const { events, unknownWindows } = this.known.applyTopology(rows, links);
        options.onEvents(events);
        options.streams().checkPlaces(true);
        return unknownWindows;
      },
      onPanes: (rows) => {
        options.onEvents(this.known.applyPanes(rows));
        for (const row of rows) if (!row.dead) options.onAlive(row.pane);
        options.streams().checkPlaces(false);
      },
      strays: () => this.known.strays(),
      onPlaces: (asked, places) => {
        const { events, windows } = this.known.applyPlaces(asked, places);
        options.onEvents(events);
        return windows;
      },
      onComplete: () => {
        this.silent.look();
        options.onComplete();
      },
      onProbe: () => this.#comparePanes(),
      onError: (error) => this.#failed(error),
    });
    this.silent = new SilentChanges(() => options.streams().baseConnection(), {
      places: () => options.streams().baseWindows(),
    });
    const { clock, processes, streams } = options;
    this.settler = new ExitSettler({
      clock,
      processes,
      serverPid: () => streams().serverPid,
      startProgram: () => {
        try {
          streams()
            .baseConnection()
            .send(startProgram(), "none", () => undefined);
        } catch {
          // No connection: the next one lists everything.
        }
      },
      probe: () => this.refresher.probe(),
    });
  }

  /** Lists everything over a connection that is not the base's yet. @throws AppError CONNECTION_LOST */
  async listOver(connection: ControlConnection): Promise<void> {
    this.#fresh = connection;
    this.known.features = connection.features;
    try {
      await this.refresher.refreshAll();
    } finally {
      this.#fresh = undefined;
    }
    this.silent.attached(connection);
  }

  /** Everything is gone, or stands for something else. */
  clear(): void {
    this.settler.clear();
    this.#options.onEvents(this.known.clear());
    this.#options.onComplete();
  }

  paneChanged(pane: PaneId): void {
    const window = this.known.findPane(pane)?.window;
    if (window === undefined) this.refresher.topologyChanged();
    else this.refresher.windowChanged(window);
  }

  /** Panes that have ended are reported at once; new ones and moved ones are listed. */
  async #comparePanes(): Promise<void> {
    const programs = await this.#connection().rows(PROGRAMS, listAllPanes);
    const listed = new Set<PaneId>();
    const unsettled = new Set<PaneId>();
    for (const { window, pane, pid, dead, deadStatus, deadSignal } of programs) {
      listed.add(pane);
      const known = this.known.findPane(pane);
      // From 3.8 on tmux forgets the process of a dead pane.
      const process = pid ?? known?.pid;
      const exit = dead ? this.known.exitOf({ pid: process ?? 0, deadStatus, deadSignal }) : undefined;
      if (dead && exit === undefined) unsettled.add(pane);
      const isSame = known?.window === window && known.pid === process;
      if (isSame && exit !== undefined) this.#options.onEvents(this.known.declareExit(pane, exit));
      else if (isSame && known.exit === undefined) continue;
      else if (this.known.panesOf(window).length === 0) this.refresher.topologyChanged();
      else this.refresher.windowChanged(window);
    }
    const gone = this.known.panes().filter(({ id }) => !listed.has(id));
    for (const { window } of gone) this.refresher.windowChanged(window);
    if (gone.length > 0) {
      this.refresher.topologyChanged();
      this.#options.onEvents(this.known.removePanes(gone.map(({ id }) => id)));
    }
    this.settler.found(unsettled.size);
  }

  /** @throws AppError CONNECTION_LOST */
  #connection(): ControlConnection {
    return this.#fresh ?? this.#options.streams().connection();
  }

  /** Without a connection nothing is known; with the next one everything is listed. */
  #failed(error: unknown): void {
    if (isCutShort(error)) return;
    this.#options.log("inventory.failed", { error: String(error) });
  }
}
