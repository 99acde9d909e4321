/** The pane itself is gone. Without this predicate that ends the wait with NOT_FOUND. */
import { predicate, switched } from "./predicate.ts";

export const gone = predicate({
  ...switched("gone", "The pane is gone.", "the pane is gone"),
  arm: () => undefined,
  dueMs: (_armed, { isGone, nowMs }) => (isGone ? nowMs : undefined),
  progress: (_armed, { isGone }) => isGone,
});
