/**
 * Operations on windows and panes as the native API takes them (docs/contracts/native.md, "Windows and panes"): one body per
 * tmux command, under tmux's own name. A pane is `%5`, `5`, or a session: its active pane; a window `@3`, a
 * pane's `%5`, or a session: its active window; a session a name, exactly, or `$2`.
 */
import * as v from "valibot";
import type { LayoutOperationName } from "./operationRoutes.ts";

const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const target = v.pipe(v.string(), v.nonEmpty(), v.maxLength(256));
const flag = v.optional(v.boolean());
const name = v.pipe(v.string(), v.nonEmpty(), v.maxLength(256));
const cells = whole(1, 1_000);
/** Cells, or percent of what there is. */
const size = v.union([cells, v.pipe(v.string(), v.regex(/^(?:[1-9]\d?|100)%$/, "a size is cells, or 1% to 100%"))]);
const side = v.picklist(["up", "down", "left", "right"]);
const value = v.nullable(v.pipe(v.string(), v.nonEmpty(), v.maxLength(64)));

const program = {
  /** argv; the user's shell when absent. */
  command: v.optional(v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(1_024))),
  cwd: v.optional(v.pipe(v.string(), v.startsWith("/", "cwd must be an absolute path"), v.maxLength(4_096))),
  environment: v.optional(v.record(v.string(), v.string())),
};
const place = {
  direction: v.optional(v.picklist(["vertical", "horizontal"])),
  size: v.optional(size),
  before: flag,
  full: flag,
  detached: flag,
};

export const LAYOUT_OPERATIONS = {
  "new-window": {
    summary: "Make a window with one pane.",
    example: { session: "work", name: "logs", command: ["tail", "-f", "log"] },
    body: v.strictObject({
      session: target,
      name: v.optional(name),
      after: v.optional(target),
      detached: flag,
      ...program,
    }),
  },
  "split-window": {
    summary: "Make a pane beside or below another.",
    example: { pane: "%5", direction: "horizontal", size: "30%" },
    body: v.strictObject({ pane: target, ...place, ...program }),
  },
  "kill-pane": {
    summary: "End a pane and its program.",
    example: { pane: "%5" },
    body: v.strictObject({ pane: target }),
  },
  "kill-window": {
    summary: "End a window and every program in it.",
    example: { window: "@0" },
    body: v.strictObject({ window: target }),
  },
  "rename-window": {
    summary: "Give a window another name.",
    example: { window: "@0", name: "logs" },
    body: v.strictObject({ window: target, name }),
  },
  "rename-session": {
    summary: "Give a session another name.",
    example: { session: "work", name: "done" },
    body: v.strictObject({ session: target, name }),
  },
  "select-pane": {
    summary: "Make a pane, or its neighbour, the active one.",
    example: { pane: "%5", direction: "left" },
    body: v.strictObject({ pane: target, direction: v.optional(side) }),
  },
  "select-window": {
    summary: "Make a window the active one of its sessions.",
    example: { window: "@0" },
    body: v.strictObject({ window: target, session: v.optional(target) }),
  },
  "swap-pane": {
    summary: "Let two panes change places.",
    example: { pane: "%5", with: "%7" },
    body: v.strictObject({ pane: target, with: target, detached: flag }),
  },
  "move-pane": {
    summary: "Move a pane beside or below another, of any window.",
    example: { pane: "%5", to: "%7", direction: "horizontal" },
    body: v.strictObject({ pane: target, to: target, ...place }),
  },
  "join-pane": {
    summary: "The same as move-pane.",
    example: { pane: "%5", to: "work" },
    body: v.strictObject({ pane: target, to: target, ...place }),
  },
  "break-pane": {
    summary: "Give a pane a window of its own.",
    example: { pane: "%5", name: "logs" },
    body: v.strictObject({ pane: target, session: v.optional(target), name: v.optional(name), detached: flag }),
  },
  "resize-pane": {
    summary: "Set a pane's size, move one of its borders, or zoom it.",
    example: { pane: "%5", cols: "40%" },
    body: v.strictObject({
      pane: target,
      cols: v.optional(size),
      rows: v.optional(size),
      direction: v.optional(side),
      cells: v.optional(cells),
      zoom: flag,
    }),
  },
  "resize-window": {
    summary: "Set a window's size, or let its terminals decide again.",
    example: { window: "@0", cols: 120, rows: 40 },
    body: v.strictObject({ window: target, cols: v.optional(cells), rows: v.optional(cells), automatic: flag }),
  },
  "select-layout": {
    summary: "Arrange a window's panes.",
    example: { window: "@0", layout: "tiled" },
    body: v.strictObject({ window: target, layout: v.pipe(v.string(), v.nonEmpty(), v.maxLength(65_536)) }),
  },
  "respawn-pane": {
    summary: "Start a program in a new pane in the place of another.",
    example: { pane: "%5", command: ["make", "-j8"] },
    body: v.strictObject({ pane: target, ...program }),
  },
  "clear-history": {
    summary: "Forget what a pane has shown before its screen.",
    example: { pane: "%5" },
    body: v.strictObject({ pane: target }),
  },
  "set-window-option": {
    summary: "Set one of a window's own options, or take it back.",
    example: { window: "@0", option: "remain-on-exit", value: "on" },
    body: v.strictObject({ window: target, option: name, value }),
  },
  "set-pane-option": {
    summary: "Set one of a pane's own options, or take it back.",
    example: { pane: "%5", option: "remain-on-exit", value: null },
    body: v.strictObject({ pane: target, option: name, value }),
  },
} as const satisfies Readonly<
  Record<LayoutOperationName, { readonly summary: string; readonly example: object; readonly body: v.GenericSchema }>
>;

export type NativeLayoutRequest<Name extends LayoutOperationName> = v.InferInput<
  (typeof LAYOUT_OPERATIONS)[Name]["body"]
>;

/** Where that which was made, moved or asked about is now. */
export const layoutResultSchema = v.object({
  session: v.nullable(v.string()),
  window: v.nullable(v.string()),
  pane: v.nullable(v.string()),
});
export type NativeLayoutResult = v.InferOutput<typeof layoutResultSchema>;
