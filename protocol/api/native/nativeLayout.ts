/**
 * Operations on windows and panes in the native API (docs/contracts/native.md, "Windows and panes"): one body per tmux
 * command, under tmux's own name. A pane is `%5`, `5`, or a session's name (its active pane); a window is `@3`, a pane in it,
 * or a session's name (its active window); a session is its exact name, or `$2`.
 */
import * as v from "valibot";
import type { LayoutOperationName } from "../operationRoutes.ts";
import { described, filled, optional, whole } from "../described.ts";
import { programEntries } from "./nativeRequests.ts";

const name = filled(256);
const target = (text: string) => described(name, text);
const flag = (text: string) => optional(v.boolean(), text);
const cells = (text: string) => described(whole(1, 1_000), text);
const SIZE = v.union([
  whole(1, 1_000),
  v.pipe(v.string(), v.regex(/^(?:[1-9]\d?|100)%$/, "a size must be cells, or 1% to 100%")),
]);
/** Cells, or a percentage. */
const size = (text: string) => optional(SIZE, text);
const side = (text: string) => optional(v.picklist(["up", "down", "left", "right"]), text);
const value = described(v.nullable(filled(64)), "The new value; null unsets the option.");

const pane = target("A pane: %5, 5, or a session's name for its active pane.");
const window = target("A window: @3, a pane in it such as %5, or a session's name for its active window.");
const session = target("A session's exact name, or its id such as $2.");

const program = {
  ...programEntries,
  environment: optional(v.record(v.string(), v.string()), "Environment variables for the program, by name."),
};
const detached = flag("Keep the active pane and window active.");
const place = {
  direction: optional(
    v.picklist(["vertical", "horizontal"]),
    "Below the other pane (vertical, the default) or beside it (horizontal).",
  ),
  size: size("Its size: cells, or a percentage such as 30%."),
  before: flag("Put it above or to the left of the other pane instead."),
  full: flag("Use the whole width or height of the window."),
  detached,
};

const OPTION = "A safe option; any other is refused, with a list of those allowed.";

export const LAYOUT_OPERATIONS = {
  "new-window": {
    summary: "Create a window with one pane.",
    example: { session: "work", name: "logs", command: ["tail", "-f", "log"] },
    body: v.strictObject({
      session,
      name: optional(name, "The window's name."),
      after: v.optional(target("Put it right after this window of the session.")),
      detached,
      ...program,
    }),
  },
  "split-window": {
    summary: "Create a pane beside or below another.",
    example: { pane: "%5", direction: "horizontal", size: "30%" },
    body: v.strictObject({ pane, ...place, ...program }),
  },
  "kill-pane": {
    summary: "Kill a pane and its program.",
    example: { pane: "%5" },
    body: v.strictObject({ pane }),
  },
  "kill-window": {
    summary: "Kill a window and every program in it.",
    example: { window: "@0" },
    body: v.strictObject({ window }),
  },
  "rename-window": {
    summary: "Rename a window.",
    example: { window: "@0", name: "logs" },
    body: v.strictObject({ window, name: described(name, "The new name.") }),
  },
  "rename-session": {
    summary: "Rename a session.",
    example: { session: "work", name: "done" },
    body: v.strictObject({ session, name: described(name, "The new name.") }),
  },
  "select-pane": {
    summary: "Make a pane, or its neighbour, the active one.",
    example: { pane: "%5", direction: "left" },
    body: v.strictObject({ pane, direction: side("Its neighbour on this side instead.") }),
  },
  "select-window": {
    summary: "Make a window the active one of its sessions.",
    example: { window: "@0" },
    body: v.strictObject({
      window,
      session: v.optional(target("Only in this one of its sessions; default: in all of them.")),
    }),
  },
  "swap-pane": {
    summary: "Swap two panes.",
    example: { pane: "%5", with: "%7" },
    body: v.strictObject({ pane, with: target("The other pane."), detached }),
  },
  "move-pane": {
    summary: "Move a pane beside or below another, in any window.",
    example: { pane: "%5", to: "%7", direction: "horizontal" },
    body: v.strictObject({ pane, to: target("The pane to put it next to."), ...place }),
  },
  "join-pane": {
    summary: "The same as move-pane.",
    example: { pane: "%5", to: "work" },
    body: v.strictObject({ pane, to: target("The pane to put it next to."), ...place }),
  },
  "break-pane": {
    summary: "Move a pane into a new window.",
    example: { pane: "%5", name: "logs" },
    body: v.strictObject({
      pane,
      session: v.optional(target("The session for the new window; default: the pane's session.")),
      name: optional(name, "The window's name."),
      detached,
    }),
  },
  "resize-pane": {
    summary: "Set a pane's size, move one of its borders, or zoom it.",
    example: { pane: "%5", cols: "40%" },
    body: v.strictObject({
      pane,
      cols: size("Its width: cells, or percent of the window."),
      rows: size("Its height: cells, or percent of the window."),
      direction: side("Move its border to this side."),
      cells: v.optional(cells("How far to move the border; default 1.")),
      zoom: flag("True: the pane fills the window. False: the other panes are shown."),
    }),
  },
  "resize-window": {
    summary: "Set a window's size, or let it follow its terminals again.",
    example: { window: "@0", cols: 120, rows: 40 },
    body: v.strictObject({
      window,
      cols: v.optional(cells("Its width.")),
      rows: v.optional(cells("Its height.")),
      automatic: flag("Let the window follow the terminals that show it."),
    }),
  },
  "select-layout": {
    summary: "Arrange a window's panes.",
    example: { window: "@0", layout: "tiled" },
    body: v.strictObject({
      window,
      layout: described(
        filled(65_536),
        "One of even-horizontal, even-vertical, main-horizontal, main-vertical, tiled, spread, or a layout string of tmux.",
      ),
    }),
  },
  "respawn-pane": {
    summary: "Replace a pane with a new one and start a program in it.",
    example: { pane: "%5", command: ["make", "-j8"] },
    body: v.strictObject({ pane, ...program }),
  },
  "clear-history": {
    summary: "Clear a pane's history.",
    example: { pane: "%5" },
    body: v.strictObject({ pane }),
  },
  "set-window-option": {
    summary: "Set or unset an option of a window.",
    example: { window: "@0", option: "remain-on-exit", value: "on" },
    body: v.strictObject({ window, option: described(name, OPTION), value }),
  },
  "set-pane-option": {
    summary: "Set or unset an option of a pane.",
    example: { pane: "%5", option: "remain-on-exit", value: null },
    body: v.strictObject({ pane, option: described(name, OPTION), value }),
  },
} as const satisfies Readonly<
  Record<LayoutOperationName, { readonly summary: string; readonly example: object; readonly body: v.GenericSchema }>
>;

type NativeLayoutRequests = {
  readonly [Name in LayoutOperationName]: v.InferInput<(typeof LAYOUT_OPERATIONS)[Name]["body"]>;
};
export type NativeLayoutRequest<Name extends LayoutOperationName> = NativeLayoutRequests[Name];

/** The pane or window that was created, moved or changed. */
export const layoutResultSchema = v.object({
  session: described(v.nullable(v.string()), "The session it is in, such as $0; null if not applicable."),
  window: described(v.nullable(v.string()), "The window, such as @3; null if not applicable."),
  pane: described(v.nullable(v.string()), "The pane, such as %5; null if not applicable."),
});
export type NativeLayoutResult = v.InferOutput<typeof layoutResultSchema>;
