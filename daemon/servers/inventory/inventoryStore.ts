/**
 * The sessions, windows and panes of a server, folded from listings that notifications trigger. Two kinds of listing are
 * enough: which window is in which session (ids), and the panes of a window that is new or has changed. A pane that its
 * window no longer holds may have moved to another (join-pane, break-pane, swap-pane), so it is a stray, and not gone, until
 * tmux has reported where it is. The hub and its placeholder are removed before listings get here. Fields that a program can
 * set are only displayed.
 */
import type { PaneEnd, PaneRow, SessionRow, WindowLink } from "../../../protocol/command/formats.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import { type TmuxFeatures, USUAL_TMUX } from "../../connection/tmuxFeatures.ts";
import type { ExitStatus } from "../../tmux/outputSource.ts";
import type { WindowPlace } from "../../tmux/layout.ts";
import type { HostProcesses } from "../../host/hostProcesses.ts";
import type { PaneInfo, ServerEvent, SessionInfo, WindowInfo } from "../../tmux/inventory.ts";

interface Session {
  readonly id: SessionId;
  name: string;
  readonly createdSec: number;
  attachedClients: number;
  places: WindowPlace[];
  activeWindow: WindowId | undefined;
}

export class InventoryStore {
  readonly #processes: HostProcesses;
  /** The features of the listed server; must be set when another server is listed. */
  features: TmuxFeatures = USUAL_TMUX;
  readonly #sessions = new Map<SessionId, Session>();
  readonly #windows = new Map<WindowId, WindowInfo>();
  readonly #panes = new Map<PaneId, PaneInfo>();
  readonly #strays = new Set<PaneId>();
  /** Cached until something changes, because everything about a pane names its sessions. */
  #sorted: readonly SessionInfo[] | undefined;

  constructor(processes: HostProcesses) {
    this.#processes = processes;
  }

  sessions(): readonly SessionInfo[] {
    this.#sorted ??= [...this.#sessions.values()].map((session) => this.#info(session)).sort(byName);
    return this.#sorted;
  }

  findSession(name: string): SessionInfo | undefined {
    const sessions = [...this.#sessions.values()];
    // tmux changes some names; a caller that asked for `a.b` finds the changed name.
    const tmuxName = this.features.sessionName(name);
    const found = sessions.find((other) => other.name === name) ?? sessions.find((other) => other.name === tmuxName);
    return found === undefined ? undefined : this.#info(found);
  }

  session(id: SessionId): SessionInfo | undefined {
    const session = this.#sessions.get(id);
    return session === undefined ? undefined : this.#info(session);
  }

  /** Undefined for an unknown session. */
  hasWindow(id: SessionId, window: WindowId): boolean | undefined {
    return this.#sessions.get(id)?.places.some((place) => place.window === window);
  }

  windows(): readonly WindowInfo[] {
    return [...this.#windows.values()];
  }

  window(id: WindowId): WindowInfo | undefined {
    return this.#windows.get(id);
  }

  panes(): readonly PaneInfo[] {
    return [...this.#panes.values()];
  }

  findPane(pane: PaneId): PaneInfo | undefined {
    return this.#panes.get(pane);
  }

  panesOf(window: WindowId): readonly PaneId[] {
    return this.#windows.get(window)?.panes ?? [];
  }

  /** Windows in this session and in no other. */
  windowsOnlyIn(id: SessionId): readonly WindowId[] {
    const others = new Set([...this.#sessions.values()].filter((s) => s.id !== id).flatMap(windowsOf));
    return windowsOf(this.#sessions.get(id)).filter((window) => !others.has(window));
  }

  /** Applies a complete listing. Returns the events, and the windows whose panes are not known yet. */
  applyTopology(
    rows: readonly SessionRow[],
    links: readonly WindowLink[],
  ): { readonly events: readonly ServerEvent[]; readonly unknownWindows: readonly WindowId[] } {
    this.#sorted = undefined;
    const events: ServerEvent[] = [];
    const listed = new Set(rows.map((row) => row.session));
    for (const id of this.#sessions.keys()) {
      if (listed.has(id)) continue;
      this.#sessions.delete(id);
      events.push({ kind: "session-closed", session: id });
    }
    for (const row of rows) {
      const session = this.#sessions.get(row.session);
      if (session === undefined) {
        this.#sessions.set(row.session, {
          id: row.session,
          name: row.name,
          createdSec: row.createdSec,
          attachedClients: row.attached,
          places: [],
          activeWindow: undefined,
        });
        events.push({ kind: "session-created", session: row.session });
      } else {
        session.name = row.name;
        session.attachedClients = row.attached;
      }
    }
    for (const session of this.#sessions.values()) session.places = [];
    const windows = new Set<WindowId>();
    for (const link of links) {
      const session = this.#sessions.get(link.session);
      if (session === undefined) continue;
      session.places.push({ index: link.index, window: link.window });
      if (link.active) session.activeWindow = link.window;
      windows.add(link.window);
    }
    for (const window of this.#windows.values()) {
      if (windows.has(window.id)) continue;
      this.#windows.delete(window.id);
      for (const pane of window.panes) this.#strays.add(pane);
    }
    return { events, unknownWindows: [...windows].filter((window) => !this.#windows.has(window)) };
  }

  /** Applies the panes of windows, each window complete. Rows of windows that are in no session are skipped. */
  applyPanes(rows: readonly PaneRow[]): readonly ServerEvent[] {
    this.#sorted = undefined;
    const events: ServerEvent[] = [];
    const inSession = this.#windowsInSessions();
    const byWindow = new Map<WindowId, PaneRow[]>();
    const listed = new Set<PaneId>();
    for (const row of rows) {
      if (!inSession.has(row.window)) continue;
      const panes = byWindow.get(row.window);
      // A window linked into several sessions is listed once for each.
      if (listed.has(row.pane)) continue;
      listed.add(row.pane);
      if (panes === undefined) byWindow.set(row.window, [row]);
      else panes.push(row);
    }
    for (const [id, panes] of byWindow) {
      const before = this.#windows.get(id)?.panes ?? [];
      const [first] = panes;
      if (first !== undefined) this.#windows.set(id, windowInfo(first, panes));
      for (const pane of before) if (!listed.has(pane)) this.#strays.add(pane);
      for (const row of panes) {
        const known = this.#panes.get(row.pane);
        // Not if another program runs now. From 3.8 on, tmux forgets the pid of a dead pane.
        const knownExit = row.pid === 0 || row.pid === known?.pid ? known?.exit : undefined;
        const exit = row.dead ? (knownExit ?? this.exitOf(row)) : undefined;
        const { cols = row.cols, rows: oldRows = row.rows } = known ?? {};
        const isResized = cols !== row.cols || oldRows !== row.rows;
        this.#strays.delete(row.pane);
        this.#panes.set(row.pane, {
          id: row.pane,
          window: row.window,
          cols: row.cols,
          rows: row.rows,
          active: row.active,
          pid: row.dead && row.pid === 0 ? (known?.pid ?? 0) : row.pid,
          title: row.title,
          exit,
        });
        if (isResized) events.push({ kind: "pane-resized", pane: row.pane, cols: row.cols, rows: row.rows });
        if (exit !== undefined && knownExit === undefined)
          events.push({ kind: "pane-exited", pane: row.pane, status: exit });
      }
    }
    return events;
  }

  /** Panes that are no longer in their window and must be looked up one by one. */
  strays(): readonly PaneId[] {
    return [...this.#strays];
  }

  /** Applies the strays' windows: those without one are gone. Returns the windows that must be listed for the others. */
  applyPlaces(
    asked: readonly PaneId[],
    places: ReadonlyMap<PaneId, WindowId>,
  ): { readonly events: readonly ServerEvent[]; readonly windows: readonly WindowId[] } {
    this.#sorted = undefined;
    const events: ServerEvent[] = [];
    const inSession = this.#windowsInSessions();
    const windows = new Set<WindowId>();
    for (const pane of asked) {
      const window = places.get(pane);
      if (window !== undefined && inSession.has(window)) windows.add(window);
      else if (this.#strays.delete(pane) && this.#panes.delete(pane)) events.push({ kind: "pane-closed", pane });
    }
    return { events, windows: [...windows] };
  }

  /** Removes panes that tmux has reported as gone. */
  removePanes(panes: readonly PaneId[]): readonly ServerEvent[] {
    this.#sorted = undefined;
    return panes.flatMap((pane) => {
      const window = this.#windows.get(this.#panes.get(pane)?.window ?? ("" as WindowId));
      if (window !== undefined) {
        this.#windows.set(window.id, { ...window, panes: window.panes.filter((other) => other !== pane) });
      }
      this.#strays.delete(pane);
      return this.#panes.delete(pane) ? [{ kind: "pane-closed" as const, pane }] : [];
    });
  }

  /**
   * How the program of a dead pane ended; undefined while tmux does not know. A pane is dead when its terminal is closed, and
   * tmux learns a moment later how its program ended.
   */
  exitOf({ pid, deadStatus, deadSignal }: PaneEnd): ExitStatus | undefined {
    if (deadStatus !== undefined || deadSignal !== undefined) return { exitCode: deadStatus, signal: deadSignal };
    // It is not a zombie, so tmux has reaped it, and would report an exit code; so it was ended by an unknown signal.
    const isUnknowable = !this.features.reportsSignals && this.#processes.isAlive(pid) === false;
    return isUnknowable ? { exitCode: undefined, signal: undefined } : undefined;
  }

  /** Call when tmux has reported how the pane's program ended. */
  declareExit(pane: PaneId, status: ExitStatus): readonly ServerEvent[] {
    const info = this.#panes.get(pane);
    if (info === undefined || info.exit !== undefined) return [];
    this.#panes.set(pane, { ...info, exit: status });
    return [{ kind: "pane-exited", pane, status }];
  }

  /** Forgets everything, because it is another server now. */
  clear(): readonly ServerEvent[] {
    const { events } = this.applyTopology([], []);
    return [...events, ...this.applyPlaces(this.strays(), new Map()).events];
  }

  #windowsInSessions(): ReadonlySet<WindowId> {
    return new Set([...this.#sessions.values()].flatMap(windowsOf));
  }

  #info(session: Session): SessionInfo {
    const active = this.#windows.get(session.activeWindow ?? ("" as WindowId));
    return {
      id: session.id,
      name: session.name,
      windows: windowsOf(session),
      places: [...session.places],
      activeWindow: session.activeWindow,
      activePane: active?.panes.find((pane) => this.#panes.get(pane)?.active === true),
      createdSec: session.createdSec,
      attachedClients: session.attachedClients,
    };
  }
}

/** Falls back to the size of its only pane if none is the active one. */
const windowInfo = ({ window, windowName, cols, rows }: PaneRow, panes: readonly PaneRow[]): WindowInfo => ({
  id: window,
  name: windowName,
  panes: panes.map((row) => row.pane),
  ...(panes.find(({ shape }) => shape !== undefined)?.shape ?? { cols, rows, layout: "", zoomed: false }),
});

const windowsOf = (session: Session | undefined): WindowId[] => (session?.places ?? []).map(({ window }) => window);
export const byName = (a: SessionInfo, b: SessionInfo): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
