/**
 * What a program in a pane is doing, as the native API tells it (docs/contracts/native.md, "Readiness"). A dialog's text
 * and labels are whatever the program draws.
 */
import * as v from "valibot";

export const READINESS_STATE_NAMES = ["starting", "idle", "busy", "asking", "dead", "unknown"] as const;

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

export const dialogSchema = v.object({
  /** Changes when another dialog takes its place. */
  id: v.string(),
  text: v.string(),
  options: v.array(
    v.object({
      index: count,
      number: v.optional(v.string()),
      label: v.string(),
      /** Where several may be chosen: whether this one is. */
      checked: v.optional(v.boolean()),
      /** Keys that choose it from where the mark stands; none when no way is known. */
      keys: v.array(v.string()),
    }),
  ),
  otherIndex: v.optional(count),
  marked: v.optional(count),
  multi: v.boolean(),
});

export const readinessSchema = v.object({
  state: v.picklist(READINESS_STATE_NAMES),
  source: v.picklist(["exit", "hook", "osc7501", "osc133", "title", "bracketedPaste", "screen", "none"]),
  sinceUnixMs: v.number(),
  position: v.nullable(v.string()),
  profile: v.string(),
  dialog: v.optional(dialogSchema),
});
export type NativeReadiness = v.InferOutput<typeof readinessSchema>;
