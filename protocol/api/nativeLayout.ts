/**
 * Operations on windows and panes as the native API takes them (docs/contracts/native.md, "Windows and panes"): one body per
 * tmux command, under tmux's own name. A pane is `%5`, `5`, or a session: its active pane; a window `@3`, a
 * pane's `%5`, or a session: its active window; a session a name, exactly, or `$2`.
 */
import * as v from "valibot";
import type { LayoutOperationName } from "./operationRoutes.ts";
import { described, filled, optional, whole } from "./described.ts";
import { programEntries } from "./nativeRequests.ts";

const name = filled(256);
const target = (text: string) => described(name, text);
const flag = (text: string) => optional(v.boolean(), text);
const cells = (text: string) => described(whole(1, 1_000), text);
const SIZE = v.union([
  whole(1, 1_000),
  v.pipe(v.string(), v.regex(/^(?:[1-9]\d?|100)%$/, "a size is cells, or 1% to 100%")),
]);
/** Cells, or a percentage. */
const size = (text: string) => optional(SIZE, text);
const side = (text: string) => optional(v.picklist(["up", "down", "left", "right"]), text);
const value = described(v.nullable(filled(64)), "What to set it to; null removes its own value.");

const pane = target("A pane: %5, 5, or a session's name for its active pane.");
const window = target("A window: @3, a pane in it such as %5, or a session's name for its active window.");
const session = target("A session's name, exactly, or its id such as $2.");

const program = {
  ...programEntries,
  environment: optional(v.record(v.string(), v.string()), "Variables of the program, by name."),
};
const detached = flag("Leave the active pane and window as they are.");
const place = {
  direction: optional(
    v.picklist(["vertical", "horizontal"]),
    "Below the other pane (vertical, the default) or beside it (horizontal).",
  ),
  size: size("Its size: cells, or percent such as 30%."),
  before: flag("Above or to the left of the other pane instead."),
  full: flag("As wide or as high as the whole window."),
  detached,
};

const OPTION = "An option that is safe to set; any other is refused with the list of those that are.";

export const LAYOUT_OPERATIONS = {
  "new-window": {
    summary: "Make a window with one pane.",
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
    summary: "Make a pane beside or below another.",
    example: { pane: "%5", direction: "horizontal", size: "30%" },
    body: v.strictObject({ pane, ...place, ...program }),
  },
  "kill-pane": {
    summary: "End a pane and its program.",
    example: { pane: "%5" },
    body: v.strictObject({ pane }),
  },
  "kill-window": {
    summary: "End a window and every program in it.",
    example: { window: "@0" },
    body: v.strictObject({ window }),
  },
  "rename-window": {
    summary: "Give a window another name.",
    example: { window: "@0", name: "logs" },
    body: v.strictObject({ window, name: described(name, "The new name.") }),
  },
  "rename-session": {
    summary: "Give a session another name.",
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
    summary: "Let two panes change places.",
    example: { pane: "%5", with: "%7" },
    body: v.strictObject({ pane, with: target("The other pane."), detached }),
  },
  "move-pane": {
    summary: "Move a pane beside or below another, of any window.",
    example: { pane: "%5", to: "%7", direction: "horizontal" },
    body: v.strictObject({ pane, to: target("The pane to put it next to."), ...place }),
  },
  "join-pane": {
    summary: "The same as move-pane.",
    example: { pane: "%5", to: "work" },
    body: v.strictObject({ pane, to: target("The pane to put it next to."), ...place }),
  },
  "break-pane": {
    summary: "Give a pane a window of its own.",
    example: { pane: "%5", name: "logs" },
    body: v.strictObject({
      pane,
      session: v.optional(target("The session the window is made in; default: the one of the pane.")),
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
      zoom: flag("True: it covers the window afterwards. False: it does not."),
    }),
  },
  "resize-window": {
    summary: "Set a window's size, or let its terminals decide again.",
    example: { window: "@0", cols: 120, rows: 40 },
    body: v.strictObject({
      window,
      cols: v.optional(cells("Its width.")),
      rows: v.optional(cells("Its height.")),
      automatic: flag("Let the terminals that show it decide again."),
    }),
  },
  "select-layout": {
    summary: "Arrange a window's panes.",
    example: { window: "@0", layout: "tiled" },
    body: v.strictObject({
      window,
      layout: described(
        filled(65_536),
        "One of even-horizontal, even-vertical, main-horizontal, main-vertical, tiled, spread, or a layout as tmux writes it.",
      ),
    }),
  },
  "respawn-pane": {
    summary: "Start a program in a new pane in the place of another.",
    example: { pane: "%5", command: ["make", "-j8"] },
    body: v.strictObject({ pane, ...program }),
  },
  "clear-history": {
    summary: "Forget what a pane has shown before its screen.",
    example: { pane: "%5" },
    body: v.strictObject({ pane }),
  },
  "set-window-option": {
    summary: "Set one of a window's own options, or take it back.",
    example: { window: "@0", option: "remain-on-exit", value: "on" },
    body: v.strictObject({ window, option: described(name, OPTION), value }),
  },
  "set-pane-option": {
    summary: "Set one of a pane's own options, or take it back.",
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

/** Where the pane or window that was created, moved or changed is now. */
export const layoutResultSchema = v.object({
  session: described(v.nullable(v.string()), "The session it is in, such as $0; null where that does not apply."),
  window: described(v.nullable(v.string()), "The window, such as @3; null where that does not apply."),
  pane: described(v.nullable(v.string()), "The pane, such as %5; null where that does not apply."),
});
export type NativeLayoutResult = v.InferOutput<typeof layoutResultSchema>;
