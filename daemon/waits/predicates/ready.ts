/**
 * The program is in a state of readiness. A level: it must hold when the wait ends. When something is typed, only a state
 * that began after it counts, the same one again included: the program has worked and is idle again.
 */
import * as v from "valibot";
import { READINESS_STATE_NAMES } from "../../../protocol/api/nativeReadiness.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneReadiness, Readiness, ReadinessState, ReadinessWatcher } from "../../readiness/readiness.ts";
import type { WaitPane } from "../waitPane.ts";
import { predicate } from "./predicate.ts";

function watcherOf(pane: WaitPane | undefined): ReadinessWatcher {
  if (pane?.readiness !== undefined) return pane.readiness;
  throw new AppError("INVALID_ARGUMENT", "this daemon does not report readiness");
}

/** Not the same stay in the same state. */
const isAnother = (before: Readiness, now: Readiness): boolean =>
  before.state !== now.state ||
  before.sinceUnixMs !== now.sinceUnixMs ||
  before.position?.outputSeq !== now.position?.outputSeq;

export const ready = predicate({
  name: "ready",
  field: "ready",
  schema: v.pipe(
    v.union([v.literal(true), v.picklist(READINESS_STATE_NAMES)]),
    v.description("The program is in this state; `true` is `idle`. Refused where readiness is not reported."),
    v.transform((state): ReadinessState => (state === true ? "idle" : state)),
  ),
  flags: [
    {
      name: "ready",
      type: "text",
      value: "STATE",
      description: "its program is in this state",
      choices: READINESS_STATE_NAMES,
      implied: "idle",
    },
  ],
  asked: (given) => [given.text("ready") as ReadinessState | undefined].filter((state) => state !== undefined),
  check: (state, { pane }) => {
    watcherOf(pane);
    return state;
  },
  prepare: async (_state, pane) => {
    const watched = watcherOf(pane).watch(pane.server, pane.id);
    try {
      await watched.probe();
      return watched;
    } catch (error) {
      watched[Symbol.dispose]();
      throw error;
    }
  },
  arm: (state: ReadinessState, context, watched: PaneReadiness) => {
    const before = context.moment.isForSend ? watched.current : undefined;
    const isReady = ({ current }: PaneReadiness): boolean =>
      current.state === state && (before === undefined || isAnother(before, current));
    const armed = { isReady: isReady(watched) };
    context.onEnd(
      watched.subscribe(() => {
        armed.isReady = isReady(watched);
        context.changed();
      }),
    );
    return armed;
  },
  dueMs: ({ isReady }, { nowMs }) => (isReady ? nowMs : undefined),
  progress: ({ isReady }) => isReady,
});
