/**
 * What a tmux server holds, and what changes in it, as the native API tells it (docs/contracts/native.md, "Windows and
 * panes"). Names and titles are foreign text. `applyTreeEvent` keeps a tree true by the events alone.
 */
import * as v from "valibot";
import type { LayoutCell } from "../layout.ts";
import { exitSchema } from "./nativeAnswers.ts";
import { readinessSchema } from "./nativeReadiness.ts";

type Frozen<Value> = Value extends LayoutCell
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const id = v.string();
const placeSchema = v.object({ index: count, window: id });

/** Its `cells` are cells again. */
const layoutCellSchema = v.looseObject({
  kind: v.picklist(["pane", "row", "column"]),
  cols: count,
  rows: count,
  left: count,
  top: count,
  pane: v.optional(v.nullable(id)),
  cells: v.optional(v.array(v.looseObject({ kind: v.picklist(["pane", "row", "column"]) }))),
}) as unknown as v.GenericSchema<LayoutCell>;

const shape = {
  cols: count,
  rows: count,
  /** As tmux writes it. */
  layout: v.string(),
  /** The same as a tree; null when it cannot be read. */
  root: v.nullable(layoutCellSchema),
  zoomed: v.boolean(),
  panes: v.array(id),
};

export const treeSessionSchema = v.object({
  id,
  name: v.string(),
  createdSec: v.number(),
  windows: v.array(placeSchema),
  activeWindow: v.nullable(id),
});
export const treeWindowSchema = v.object({ id, name: v.string(), ...shape, activePane: v.nullable(id) });
export const treePaneSchema = v.object({
  id,
  window: id,
  cols: count,
  rows: count,
  pid: v.number(),
  title: v.string(),
  exit: v.nullable(exitSchema),
});

const treeEntries = {
  sessions: v.array(treeSessionSchema),
  windows: v.array(treeWindowSchema),
  panes: v.array(treePaneSchema),
};

export const treeSchema = v.object({
  /** The event that this tree is after: `Last-Event-ID` for what follows it. */
  id: v.string(),
  state: v.picklist(["connecting", "ready", "degraded", "closed"]),
  ...treeEntries,
});
export type NativeTreeAnswer = Frozen<v.InferOutput<typeof treeSchema>>;
export type NativeTreeWindow = Frozen<v.InferOutput<typeof treeWindowSchema>>;
export type NativeTreePane = Frozen<v.InferOutput<typeof treePaneSchema>>;
export type NativeTreeSession = Frozen<v.InferOutput<typeof treeSessionSchema>>;
export type NativeTree = Pick<NativeTreeAnswer, "sessions" | "windows" | "panes">;

export const windowsSchema = v.object({
  windows: v.array(v.object({ ...treeWindowSchema.entries, sessions: v.array(id) })),
});
export type NativeWindow = Frozen<v.InferOutput<typeof windowsSchema>>["windows"][number];

/** Why the whole tree is told. `start`: no place was asked for. `unknown`, `behind`: what follows that place is not there any more. */
export const RESET_REASONS = ["start", "unknown", "behind"] as const;

/** What stands in `data`, by the event's name; `type` is that name again. */
export const serverEventSchema = v.variant("type", [
  v.object({
    type: v.literal("reset"),
    reason: v.picklist(RESET_REASONS),
    state: treeSchema.entries.state,
    ...treeEntries,
    /** With `readiness`: of every pane of which it is known. */
    readiness: v.optional(v.record(v.string(), readinessSchema)),
  }),
  v.object({ type: v.literal("server-state"), state: treeSchema.entries.state }),
  v.object({ type: v.literal("window-created"), window: treeWindowSchema }),
  v.object({ type: v.literal("pane-created"), pane: treePaneSchema }),
  v.object({ type: v.literal("pane-moved"), pane: id, window: id }),
  v.object({ type: v.literal("layout-changed"), window: id, ...shape }),
  v.object({ type: v.literal("window-pane-changed"), window: id, pane: v.nullable(id) }),
  v.object({ type: v.literal("window-renamed"), window: id, name: v.string() }),
  v.object({ type: v.literal("pane-resized"), pane: id, cols: count, rows: count }),
  v.object({ type: v.literal("pane-title-changed"), pane: id, title: v.string() }),
  v.object({ type: v.literal("pane-respawned"), pane: id, pid: v.number() }),
  v.object({ type: v.literal("pane-exited"), pane: id, exit: exitSchema }),
  v.object({ type: v.literal("session-created"), session: treeSessionSchema }),
  v.object({ type: v.literal("session-renamed"), session: id, name: v.string() }),
  v.object({ type: v.literal("session-windows-changed"), session: id, windows: v.array(placeSchema) }),
  v.object({ type: v.literal("session-window-changed"), session: id, window: v.nullable(id) }),
  v.object({ type: v.literal("session-closed"), session: id }),
  v.object({ type: v.literal("pane-closed"), pane: id }),
  v.object({ type: v.literal("window-closed"), window: id }),
  v.object({ type: v.literal("readiness"), pane: id, readiness: readinessSchema }),
  v.object({ type: v.literal("closed"), code: v.string(), message: v.string() }),
]);
export type NativeServerEvent = Frozen<v.InferOutput<typeof serverEventSchema>>;

/** The tree after an event, which is told once and in order. An event that is not about the tree changes nothing. */
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
