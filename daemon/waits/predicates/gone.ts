/** The pane itself is gone. Without this predicate that ends the wait with NOT_FOUND. */
import * as v from "valibot";
import { predicate } from "./predicate.ts";

export const gone = predicate({
  name: "gone",
  field: "gone",
  schema: v.pipe(v.boolean(), v.description("The pane is gone.")),
  flags: [{ name: "gone", type: "flag", description: "the pane is gone" }],
  asked: (given) => (given.flag("gone") ? [true] : []),
  check: (isAsked) => (isAsked ? isAsked : undefined),
  arm: () => undefined,
  dueMs: (_armed, { isGone, nowMs }) => (isGone ? nowMs : undefined),
  progress: (_armed, { isGone }) => isGone,
});
