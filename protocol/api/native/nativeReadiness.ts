/**
 * Readiness, what a program in a pane is doing, in the native API (docs/contracts/native.md, "Readiness"). A dialog's text
 * and labels are foreign text.
 */
import * as v from "valibot";
import { count, described, optional } from "../described.ts";

export const READINESS_STATE_NAMES = ["starting", "idle", "busy", "asking", "dead", "unknown"] as const;

const dialogOptionSchema = v.object({
  index: count("Its index, from 0, as `choose` takes it."),
  number: optional(v.string(), "The number or letter shown before it."),
  label: described(v.string(), "Its text. Foreign text."),
  checked: optional(v.boolean(), "If several may be chosen: whether this one is checked."),
  keys: described(v.array(v.string()), "Keys that choose it from the current selection; empty if unknown."),
});

export const dialogSchema = v.object({
  id: described(v.string(), "The dialog's id, which changes when another dialog replaces it."),
  text: described(v.string(), "The question. Foreign text."),
  options: described(v.array(dialogOptionSchema), "The options."),
  otherIndex: v.optional(count("The option that takes free text.")),
  marked: v.optional(count("The currently selected option.")),
  multi: described(v.boolean(), "Whether several options may be chosen."),
});

export const readinessSchema = v.object({
  state: described(v.picklist(READINESS_STATE_NAMES), "What the program is doing."),
  source: described(
    v.picklist(["exit", "hook", "osc7501", "osc133", "title", "bracketedPaste", "screen", "none"]),
    "The source of this information.",
  ),
  sinceUnixMs: described(v.number(), "When the state began: Unix time in milliseconds."),
  position: described(v.nullable(v.string()), "Where in the output it began; null if unknown."),
  profile: described(v.string(), "The profile that the daemon has detected: a name from `tmuxwire profiles`."),
  dialog: optional(dialogSchema, "The dialog that is open."),
});
export type NativeReadiness = v.InferOutput<typeof readinessSchema>;
