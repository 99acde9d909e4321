/** The program has ended; one that ended before counts. Latches. */
import { predicate, switched } from "./predicate.ts";

export const exit = predicate({
  ...switched("exit", "The program has ended.", "the program has ended"),
  arm: () => undefined,
  dueMs: (_armed, { exitedMs, nowMs }) => (exitedMs === undefined ? undefined : nowMs),
  progress: (_armed, { exitedMs }) => exitedMs !== undefined,
});
