/**
 * What exists on a server: sessions, windows, panes, folded from listings that notifications ask for. Two kinds of
 * listing are enough: which window is in which session (ids), and the panes of a window that is new or has changed. The
 * hub and its placeholder are left out before anything gets here. Fields a program can set are only ever shown.
 */
import type { PaneRow, SessionRow, WindowLink } from "../../protocol/command/formats.ts";
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import type { ExitStatus } from "../panes/outputSource.ts";
import type { PaneInfo, ServerEvent, SessionInfo, WindowInfo } from "./tmuxServer.ts";

interface Session {
  readonly id: SessionId;
  name: string;
  readonly createdSec: number;
  windows: WindowId[];
  activeWindow: WindowId | undefined;
}

interface Window {
  readonly id: WindowId;
  name: string;
  panes: PaneId[];
}

export class Inventory {
  readonly #sessions = new Map<SessionId, Session>();
  readonly #windows = new Map<WindowId, Window>();
  readonly #panes = new Map<PaneId, PaneInfo>();

  sessions(): readonly SessionInfo[] {
    return [...this.#sessions.values()].map((session) => this.#info(session)).sort(byName);
  }

  findSession(name: string): SessionInfo | undefined {
    // tmux cannot hold `.` or `:` in a name; whoever asked for `a.b` finds what tmux made of it.
    const tmuxName = tmuxSessionName(name);
    for (const session of this.#sessions.values()) if (session.name === tmuxName) return this.#info(session);
    return undefined;
  }

  session(id: SessionId): SessionInfo | undefined {
    const session = this.#sessions.get(id);
    return session === undefined ? undefined : this.#info(session);
  }

  windows(): readonly WindowInfo[] {
    return [...this.#windows.values()].map(({ id, name, panes }) => ({ id, name, panes: [...panes] }));
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
    const others = new Set([...this.#sessions.values()].filter((s) => s.id !== id).flatMap((s) => s.windows));
    return (this.#sessions.get(id)?.windows ?? []).filter((window) => !others.has(window));
  }

  /** A complete listing. Returns what to tell, and the windows whose panes are not known yet. */
  applyTopology(
    rows: readonly SessionRow[],
    links: readonly WindowLink[],
  ): { readonly events: readonly ServerEvent[]; readonly unknownWindows: readonly WindowId[] } {
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
          windows: [],
          activeWindow: undefined,
        });
        events.push({ kind: "session-created", session: row.session });
      } else session.name = row.name;
    }
    for (const session of this.#sessions.values()) session.windows = [];
    const windows = new Set<WindowId>();
    for (const link of links) {
      const session = this.#sessions.get(link.session);
      if (session === undefined) continue;
      session.windows.push(link.window);
      if (link.active) session.activeWindow = link.window;
      windows.add(link.window);
    }
    for (const window of this.#windows.values()) {
      if (windows.has(window.id)) continue;
      this.#windows.delete(window.id);
      for (const pane of window.panes) events.push(...this.#removePane(pane));
    }
    return { events, unknownWindows: [...windows].filter((window) => !this.#windows.has(window)) };
  }

  /** The panes of windows, each window complete. Rows of windows that are in no session are passed over. */
  applyPanes(rows: readonly PaneRow[]): readonly ServerEvent[] {
    const events: ServerEvent[] = [];
    const inSession = new Set([...this.#sessions.values()].flatMap((session) => session.windows));
    const byWindow = new Map<WindowId, Map<PaneId, PaneRow>>();
    for (const row of rows) {
      if (!inSession.has(row.window)) continue;
      const panes = byWindow.get(row.window) ?? new Map<PaneId, PaneRow>();
      byWindow.set(row.window, panes.set(row.pane, row));
    }
    for (const [id, panes] of byWindow) {
      const window = this.#windows.get(id) ?? { id, name: "", panes: [] };
      const gone = window.panes.filter((pane) => !panes.has(pane));
      window.panes = [...panes.keys()];
      this.#windows.set(id, window);
      // A pane that moved to another window (join-pane) has a row there and is not gone.
      for (const pane of gone) if (this.#panes.get(pane)?.window === id) events.push(...this.#removePane(pane));
      for (const row of panes.values()) {
        window.name = row.windowName;
        const known = this.#panes.get(row.pane);
        const exit = row.dead ? (known?.exit ?? exitOf(row)) : undefined;
        this.#panes.set(row.pane, {
          id: row.pane,
          window: row.window,
          cols: row.cols,
          rows: row.rows,
          active: row.active,
          pid: row.pid,
          title: row.title,
          exit,
        });
        if (exit !== undefined && known?.exit === undefined) {
          events.push({ kind: "pane-exited", pane: row.pane, status: exit });
        }
      }
    }
    return events;
  }

  /** Forgets everything: the server is another one now. */
  clear(): readonly ServerEvent[] {
    return this.applyTopology([], []).events;
  }

  #removePane(pane: PaneId): readonly ServerEvent[] {
    return this.#panes.delete(pane) ? [{ kind: "pane-closed", pane }] : [];
  }

  #info(session: Session): SessionInfo {
    const active = this.#windows.get(session.activeWindow ?? ("" as WindowId));
    return {
      id: session.id,
      name: session.name,
      windows: [...session.windows],
      activePane: active?.panes.find((pane) => this.#panes.get(pane)?.active === true),
      createdSec: session.createdSec,
    };
  }
}

/** What tmux makes of a session name (session.c `session_check_name`); control characters are refused before. */
export const tmuxSessionName = (name: string): string => name.replaceAll(/[.:]/g, "_");

const exitOf = (row: PaneRow): ExitStatus => ({ exitCode: row.deadStatus, signal: row.deadSignal });

const byName = (a: SessionInfo, b: SessionInfo): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
