/**
 * The tree of a tmux server and its changes in the native API (docs/contracts/native.md, "Windows and panes"). Names and
 * titles are foreign text.
 */
import * as v from "valibot";
import { agentSchema } from "./nativeAgents.ts";
import type { LayoutCell } from "../../windowLayout.ts";
import { exitSchema, serverStateSchema, waiting } from "./nativeResponses.ts";
import { readinessSchema } from "./nativeReadiness.ts";
import { count, described, optional } from "../described.ts";

/** Deeply readonly. */
export type Frozen<Value> = Value extends LayoutCell
  ? Value
  : Value extends object
    ? { readonly [Key in keyof Value]: Frozen<Value[Key]> }
    : Value;

const cols = count("Width in columns.");
const rows = count("Height in rows.");
const session = described(v.string(), "The session's id, such as $0.");
const window = described(v.string(), "The window's id, such as @3.");
const pane = described(v.string(), "The pane's id, such as %5.");
const name = described(v.string(), "Its name. Foreign text.");
const title = described(v.string(), "Set by its program. Foreign text.");
const pid = described(v.number(), "The process id of its first program.");
const activePane = described(
  v.nullable(v.string()),
  "The id of its active pane; null while it is being created or killed.",
);
const activeWindow = described(
  v.nullable(v.string()),
  "The id of its active window; null while it is being created or killed.",
);
const createdSec = described(v.number(), "When it was created: Unix time in seconds.");
const placeSchema = v.object({ index: count("The window's index in the session."), window });
const places = described(v.array(placeSchema), "Its windows, by index.");
const state = described(serverStateSchema, "Whether tmux responds.");

const CELL_KIND = described(
  v.picklist(["pane", "row", "column"]),
  "A pane, cells side by side (row), or cells one below another (column).",
);
/** Its `cells` are layout cells as well. */
const layoutCellSchema = v.looseObject({
  kind: CELL_KIND,
  cols,
  rows,
  left: count("The column of its left edge in the window, from 0."),
  top: count("The row of its top edge in the window, from 0."),
  pane: optional(v.nullable(v.string()), "For a pane: its id."),
  cells: optional(v.array(v.looseObject({ kind: CELL_KIND })), "For a row or column: its cells, in the same form."),
}) as unknown as v.GenericSchema<LayoutCell>;

const shape = {
  cols,
  rows,
  layout: described(v.string(), "Its layout string from tmux."),
  root: described(v.nullable(layoutCellSchema), "The same as a tree; null if it cannot be parsed."),
  zoomed: described(v.boolean(), "Whether one pane fills the window; `layout` is the one that unzooming restores."),
  panes: described(v.array(v.string()), "Ids of its panes, in tmux's order."),
};

const treeSessionSchema = v.object({ id: session, name, createdSec, windows: places, activeWindow });
const treeWindowSchema = v.object({ id: window, name, ...shape, activePane });
const treePaneSchema = v.object({
  id: pane,
  window,
  cols,
  rows,
  pid,
  title,
  exit: described(v.nullable(exitSchema), "How its program ended; null while it runs."),
});

const treeEntries = {
  sessions: described(v.array(treeSessionSchema), "All sessions, by name."),
  windows: described(v.array(treeWindowSchema), "All windows, by id."),
  panes: described(v.array(treePaneSchema), "All panes, by id."),
};

export const treeSchema = v.object({
  id: described(
    v.string(),
    "The id of the last event that the tree includes; use it as `Last-Event-ID` for later events.",
  ),
  state,
  waiting,
  ...treeEntries,
});
export type NativeTreeResponse = Frozen<v.InferOutput<typeof treeSchema>>;
export type NativeTreeWindow = Frozen<v.InferOutput<typeof treeWindowSchema>>;
export type NativeTreeSession = Frozen<v.InferOutput<typeof treeSessionSchema>>;
export type NativeTree = Pick<NativeTreeResponse, "sessions" | "windows" | "panes">;

export const windowsSchema = v.object({
  windows: described(
    v.array(
      v.object({
        ...treeWindowSchema.entries,
        sessions: described(v.array(v.string()), "Ids of the sessions that contain it."),
      }),
    ),
    "All of them.",
  ),
});
export type NativeWindow = Frozen<v.InferOutput<typeof windowsSchema>>["windows"][number];

/** Why the whole tree is sent. `start`: no event id was given. `unknown`, `behind`: the events after that id are gone. */
export const RESET_REASONS = ["start", "unknown", "behind"] as const;

/** The `data` of each event; `type` is the event's name. */
export const serverEventSchema = v.variant("type", [
  v.object({
    type: v.literal("reset"),
    reason: v.picklist(RESET_REASONS),
    state,
    waiting,
    ...treeEntries,
    /** With `readiness`: that of every pane for which it is known. */
    readiness: v.optional(v.record(v.string(), readinessSchema)),
    /** With `agents`: those that run on this server. */
    agents: v.optional(v.array(agentSchema)),
  }),
  v.object({ type: v.literal("server-state"), state, waiting }),
  v.object({ type: v.literal("window-created"), window: treeWindowSchema }),
  v.object({ type: v.literal("pane-created"), pane: treePaneSchema }),
  v.object({ type: v.literal("pane-moved"), pane, window }),
  v.object({ type: v.literal("layout-changed"), window, ...shape }),
  v.object({ type: v.literal("window-pane-changed"), window, pane: activePane }),
  v.object({ type: v.literal("window-renamed"), window, name }),
  v.object({ type: v.literal("pane-resized"), pane, cols, rows }),
  v.object({ type: v.literal("pane-title-changed"), pane, title }),
  v.object({ type: v.literal("pane-respawned"), pane, pid }),
  v.object({ type: v.literal("pane-exited"), pane, exit: exitSchema }),
  v.object({ type: v.literal("session-created"), session: treeSessionSchema }),
  v.object({ type: v.literal("session-renamed"), session, name }),
  v.object({ type: v.literal("session-windows-changed"), session, windows: places }),
  v.object({ type: v.literal("session-window-changed"), session, window: activeWindow }),
  v.object({ type: v.literal("session-closed"), session }),
  v.object({ type: v.literal("pane-closed"), pane }),
  v.object({ type: v.literal("window-closed"), window }),
  v.object({ type: v.literal("readiness"), pane, readiness: readinessSchema }),
  v.object({ type: v.literal("agent-appeared"), agent: agentSchema }),
  v.object({ type: v.literal("agent-changed"), agent: agentSchema }),
  v.object({ type: v.literal("agent-ended"), agent: agentSchema }),
  v.object({ type: v.literal("closed"), code: v.string(), message: v.string() }),
]);
export type NativeServerEvent = Frozen<v.InferOutput<typeof serverEventSchema>>;
