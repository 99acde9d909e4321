/** Builds a server's tree (`ServerTree`) and compares two trees. Pure. */
import { byAge } from "../../../protocol/ids.ts";
import { parseLayout } from "../../../protocol/windowLayout.ts";
import type { ServerTree, TreeEvent, TreePane, TreeSession, TreeWindow, WindowShape } from "../../tmux/layout.ts";
import type { ExitStatus } from "../../tmux/outputSource.ts";
import type { PaneInfo, SessionInfo, WindowInfo } from "../../tmux/inventory.ts";

export interface TreeSource {
  sessions(): readonly SessionInfo[];
  windows(): readonly WindowInfo[];
  panes(): readonly PaneInfo[];
}

/** Parts of trees by their source objects, which stay the same until they are listed again. */
const [windowParts, paneParts] = [new WeakMap<WindowInfo, TreeWindow>(), new WeakMap<PaneInfo, TreePane>()];

/**
 * During a listing, the inventory may know windows without their panes. The tree contains only things whose place is known,
 * and only places of things that are in it.
 */
export function treeOf(source: TreeSource): ServerTree {
  const panes = new Map(source.panes().map((pane) => [pane.id, pane]));
  const placed = new Set(source.sessions().flatMap(({ windows }) => windows));
  const windows = source.windows().filter(({ id }) => placed.has(id));
  const known = new Set(windows.map(({ id }) => id));
  return {
    sessions: source.sessions().map(({ id, name, createdSec, places, activeWindow }) => ({
      id,
      name,
      createdSec,
      windows: places.filter(({ window }) => known.has(window)),
      activeWindow: activeWindow !== undefined && known.has(activeWindow) ? activeWindow : null,
    })),
    windows: windows.map((window) => windowOf(window, panes)).sort((a, b) => byAge(a.id, b.id)),
    panes: [...panes.values()]
      .filter(({ window }) => known.has(window))
      .map(paneOf)
      .sort((a, b) => byAge(a.id, b.id)),
  };
}

function windowOf(info: WindowInfo, known: ReadonlyMap<string, PaneInfo>): TreeWindow {
  const { id, name, cols, rows, layout, zoomed } = info;
  const panes = info.panes.filter((pane) => known.get(pane)?.window === id);
  const activePane = panes.find((pane) => known.get(pane)?.active === true) ?? null;
  const before = windowParts.get(info);
  const isSame = before?.activePane === activePane && panes.every((pane, index) => before.panes[index] === pane);
  if (isSame && before.panes.length === panes.length) return before;
  const root = before === undefined ? (parseLayout(layout) ?? null) : before.root;
  const window: TreeWindow = { id, name, cols, rows, layout, root, zoomed, panes, activePane };
  windowParts.set(info, window);
  return window;
}

function paneOf(info: PaneInfo): TreePane {
  const before = paneParts.get(info);
  if (before !== undefined) return before;
  const { id, window, cols, rows, pid, title, exit } = info;
  const pane: TreePane = { id, window, cols, rows, pid, title, exit: exit ?? null };
  paneParts.set(info, pane);
  return pane;
}

/** Ordered so that nothing is named before it is created or after it is gone, except the panes of a new window. */
export function treeChanges(before: ServerTree, after: ServerTree): readonly TreeEvent[] {
  const windows = pairs(before.windows, after.windows);
  const panes = pairs(before.panes, after.panes);
  const sessions = pairs(before.sessions, after.sessions);
  return [
    ...windows.made.map((window) => ({ type: "window-created" as const, window })),
    ...panes.made.map((pane) => ({ type: "pane-created" as const, pane })),
    ...panes.kept.flatMap(([was, is]) =>
      was.window === is.window ? [] : [{ type: "pane-moved" as const, pane: is.id, window: is.window }],
    ),
    ...windows.kept.flatMap(([was, is]) => windowChanges(was, is)),
    ...panes.kept.flatMap(([was, is]) => paneChanges(was, is)),
    ...sessions.made.map((session) => ({ type: "session-created" as const, session })),
    ...sessions.kept.flatMap(([was, is]) => sessionChanges(was, is)),
    ...sessions.gone.map(({ id }) => ({ type: "session-closed" as const, session: id })),
    ...panes.gone.map(({ id }) => ({ type: "pane-closed" as const, pane: id })),
    ...windows.gone.map(({ id }) => ({ type: "window-closed" as const, window: id })),
  ];
}

function pairs<Thing extends { readonly id: string }>(before: readonly Thing[], after: readonly Thing[]) {
  const [was, is] = [new Map(before.map((thing) => [thing.id, thing])), new Set(after.map(({ id }) => id))];
  return {
    made: after.filter(({ id }) => !was.has(id)),
    /** Without those that are unchanged. */
    kept: after.flatMap((thing) => {
      const old = was.get(thing.id);
      return old === undefined || old === thing ? [] : [[old, thing] as const];
    }),
    gone: before.filter(({ id }) => !is.has(id)),
  };
}

function windowChanges(was: TreeWindow, is: TreeWindow): TreeEvent[] {
  const { id: window, name, activePane: pane } = is;
  return [
    ...(isSameShape(was, is) ? [] : [{ type: "layout-changed" as const, window, ...shapeOf(is) }]),
    ...(was.activePane === pane ? [] : [{ type: "window-pane-changed" as const, window, pane }]),
    ...(was.name === name ? [] : [{ type: "window-renamed" as const, window, name }]),
  ];
}

const shapeOf = ({ cols, rows, layout, root, zoomed, panes }: TreeWindow): WindowShape => ({
  cols,
  rows,
  layout,
  root,
  zoomed,
  panes,
});

const isSameShape = (a: WindowShape, b: WindowShape): boolean =>
  a.cols === b.cols &&
  a.rows === b.rows &&
  a.layout === b.layout &&
  a.zoomed === b.zoomed &&
  a.panes.join() === b.panes.join();

function paneChanges(was: TreePane, is: TreePane): TreeEvent[] {
  const { id: pane, cols, rows, title, exit, pid } = is;
  const isRestarted = was.pid !== pid || (exit === null && was.exit !== null);
  const hasEnded = exit !== null && (isRestarted || !isSameExit(was.exit, exit));
  return [
    ...(was.cols === cols && was.rows === rows ? [] : [{ type: "pane-resized" as const, pane, cols, rows }]),
    ...(was.title === title ? [] : [{ type: "pane-title-changed" as const, pane, title }]),
    ...(isRestarted ? [{ type: "pane-respawned" as const, pane, pid }] : []),
    ...(hasEnded ? [{ type: "pane-exited" as const, pane, exit }] : []),
  ];
}

const isSameExit = (a: ExitStatus | null, b: ExitStatus): boolean =>
  a !== null && a.exitCode === b.exitCode && a.signal === b.signal;

function sessionChanges(was: TreeSession, is: TreeSession): TreeEvent[] {
  const { id: session, name, windows, activeWindow: window } = is;
  const places = (of: TreeSession): string => of.windows.map((place) => `${place.index}${place.window}`).join();
  return [
    ...(was.name === name ? [] : [{ type: "session-renamed" as const, session, name }]),
    ...(places(was) === places(is) ? [] : [{ type: "session-windows-changed" as const, session, windows }]),
    ...(was.activeWindow === window ? [] : [{ type: "session-window-changed" as const, session, window }]),
  ];
}
