/**
 * What a program in a pane is doing, as the native API reports it (docs/contracts/native.md, "Readiness"). A dialog's
 * text and labels are foreign text.
 */
import * as v from "valibot";
import { count, described, optional } from "./described.ts";

export const READINESS_STATE_NAMES = ["starting", "idle", "busy", "asking", "dead", "unknown"] as const;

const dialogOptionSchema = v.object({
  index: count("Its place, from 0: what `choose` takes."),
  number: optional(v.string(), "The number or letter in front of it."),
  label: described(v.string(), "What it says. Foreign text."),
  checked: optional(v.boolean(), "Where several may be chosen: whether this one is."),
  keys: described(v.array(v.string()), "Keys that choose it from the current selection; empty when none are known."),
});

const dialogSchema = v.object({
  id: described(v.string(), "Changes when another dialog takes its place."),
  text: described(v.string(), "What it asks. Foreign text."),
  options: described(v.array(dialogOptionSchema), "What can be chosen."),
  otherIndex: v.optional(count("The option behind which free text is taken.")),
  marked: v.optional(count("The option that is selected now.")),
  multi: described(v.boolean(), "Whether several options may be chosen."),
});

export const readinessSchema = v.object({
  state: described(v.picklist(READINESS_STATE_NAMES), "What the program is doing."),
  source: described(
    v.picklist(["exit", "hook", "osc7501", "osc133", "title", "bracketedPaste", "screen", "none"]),
    "What says so.",
  ),
  sinceUnixMs: described(v.number(), "When the state began: Unix time in milliseconds."),
  position: described(v.nullable(v.string()), "Where in the output it began; null when that is not known."),
  profile: described(v.string(), "The profile that the daemon has chosen: a name from `tmuxwire profiles`."),
  dialog: optional(dialogSchema, "The dialog that is open."),
});
export type NativeReadiness = v.InferOutput<typeof readinessSchema>;
