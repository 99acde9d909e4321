/** The program has ended; one that ended before counts. Latches. */
import * as v from "valibot";
import { predicate } from "./predicate.ts";

export const exit = predicate({
  name: "exit",
  field: "exit",
  schema: v.pipe(v.boolean(), v.description("The program has ended.")),
  flags: [{ name: "exit", type: "flag", description: "the program has ended" }],
  asked: (given) => (given.flag("exit") ? [true] : []),
  check: (isAsked) => (isAsked ? isAsked : undefined),
  arm: () => undefined,
  dueMs: (_armed, { exitedMs, nowMs }) => (exitedMs === undefined ? undefined : nowMs),
  progress: (_armed, { exitedMs }) => exitedMs !== undefined,
});
