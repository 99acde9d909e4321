/**
 * No output for so many seconds, counted from registration at the earliest. With `exit` in the same set, counted from the
 * later of the exit and the last output. A level: it must hold when the wait ends.
 */
import * as v from "valibot";
import { invalid, tooMuch } from "../requestErrors.ts";
import { predicate, type TargetState } from "./predicate.ts";

interface Armed {
  readonly quietMs: number;
  readonly isAfterExit: boolean;
}

const quietSinceMs = ({ isAfterExit }: Armed, { registeredMs, lastOutputMs, exitedMs }: TargetState): number =>
  Math.max(registeredMs, lastOutputMs, isAfterExit ? (exitedMs ?? -Infinity) : -Infinity);

export const stable = predicate({
  name: "stable",
  field: "stableSec",
  schema: v.pipe(
    v.number(),
    v.minValue(0.01),
    v.maxValue(3_600),
    v.description("No output for this many seconds, and since the exit where `exit` is asked for as well."),
  ),
  flags: [
    { name: "stable", type: "number", value: "SECONDS", description: "no output for this long", min: 0.01, max: 3_600 },
  ],
  asked: (given) => [given.number("stable")].filter((seconds) => seconds !== undefined),
  check: (seconds, { limits: { maxTimeoutSec } }) => {
    if (!(Number.isFinite(seconds) && seconds > 0)) throw invalid("stable is a number of seconds above 0");
    if (seconds > maxTimeoutSec) throw tooMuch("stable seconds", seconds, maxTimeoutSec);
    return seconds * 1_000;
  },
  arm: (quietMs: number, context): Armed => ({ quietMs, isAfterExit: context.isWith("exit") }),
  dueMs: (armed, state) => quietSinceMs(armed, state) + armed.quietMs,
  progress: (armed, state) => {
    const quietMs = Math.max(0, state.nowMs - quietSinceMs(armed, state));
    const satisfied = quietMs >= armed.quietMs && (!armed.isAfterExit || state.exitedMs !== undefined);
    return { satisfied, quietMs: Math.round(quietMs) };
  },
});
