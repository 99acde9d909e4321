/**
 * What a tmux server holds, and what changes in it, as the native API tells it (docs/contracts/native.md, "Windows and
 * panes"). Names and titles are foreign text.
 */
import * as v from "valibot";
import type { LayoutCell } from "../layout.ts";
import { exitSchema } from "./nativeAnswers.ts";
import { readinessSchema } from "./nativeReadiness.ts";

/** As it is handed out: nobody changes it. */
export type Frozen<Value> = Value extends LayoutCell
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
