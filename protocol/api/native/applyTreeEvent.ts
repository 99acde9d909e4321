/** Keeps a server's tree current from its events alone. Runs in browsers too: no schema, only types. */
import type { NativeServerEvent, NativeTree, NativeTreeSession } from "./nativeTree.ts";

/** The tree after an event; apply each event once and in order. Events that are not about the tree change nothing. */
export function applyTreeEvent(tree: NativeTree, event: NativeServerEvent): NativeTree {
  const { sessions, windows, panes } = tree;
  switch (event.type) {
    case "reset":
      return { sessions: event.sessions, windows: event.windows, panes: event.panes };
    case "window-created":
      return { ...tree, windows: [...windows, event.window].sort(byId) };
    case "pane-created":
      return { ...tree, panes: [...panes, event.pane].sort(byId) };
    case "pane-moved":
      return { ...tree, panes: changed(panes, event.pane, { window: event.window }) };
    case "layout-changed": {
      const { type: _type, window, ...rest } = event;
      return { ...tree, windows: changed(windows, window, rest) };
    }
    case "window-pane-changed":
      return { ...tree, windows: changed(windows, event.window, { activePane: event.pane }) };
    case "window-renamed":
      return { ...tree, windows: changed(windows, event.window, { name: event.name }) };
    case "pane-resized":
      return { ...tree, panes: changed(panes, event.pane, { cols: event.cols, rows: event.rows }) };
    case "pane-title-changed":
      return { ...tree, panes: changed(panes, event.pane, { title: event.title }) };
    case "pane-respawned":
      return { ...tree, panes: changed(panes, event.pane, { pid: event.pid, exit: null }) };
    case "pane-exited":
      return { ...tree, panes: changed(panes, event.pane, { exit: event.exit }) };
    case "session-created":
      return { ...tree, sessions: [...sessions, event.session].sort(byName) };
    case "session-renamed":
      return { ...tree, sessions: changed(sessions, event.session, { name: event.name }).sort(byName) };
    case "session-windows-changed":
      return { ...tree, sessions: changed(sessions, event.session, { windows: event.windows }) };
    case "session-window-changed":
      return { ...tree, sessions: changed(sessions, event.session, { activeWindow: event.window }) };
    case "session-closed":
      return { ...tree, sessions: sessions.filter((session) => session.id !== event.session) };
    case "pane-closed":
      return { ...tree, panes: panes.filter((pane) => pane.id !== event.pane) };
    case "window-closed":
      return { ...tree, windows: windows.filter((window) => window.id !== event.window) };
    case "server-state":
    case "readiness":
    case "agent-appeared":
    case "agent-changed":
    case "agent-ended":
    case "closed":
      return tree;
  }
}

const changed = <Thing extends { readonly id: string }>(
  things: readonly Thing[],
  which: string,
  by: Partial<Thing>,
): Thing[] => things.map((thing) => (thing.id === which ? { ...thing, ...by } : thing));

const byId = (a: { readonly id: string }, b: { readonly id: string }): number =>
  Number(a.id.slice(1)) - Number(b.id.slice(1));
const byName = (a: NativeTreeSession, b: NativeTreeSession): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
