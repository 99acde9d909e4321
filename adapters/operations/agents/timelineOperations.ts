/** What was asked of agents, what they asked, and how it ended. */
import {
  NATIVE_DEFAULT_TIMELINE_LIMIT,
  type NativeTimelineEntry,
  TIMELINE_DAYS,
  timelineRequestSchema,
  timelineSchema,
} from "../../../protocol/api/native/nativeTimeline.ts";
import { invalidArgument } from "../../../protocol/errors.ts";
import type { Timeline } from "../../agents/timeline/timeline.ts";
import type { TimelineEntry } from "../../agents/timeline/timelineStore.ts";
import { EXAMPLE_AGENT } from "../examples.ts";
import { operation, type OperationContext } from "../operation.ts";

export const timelineOperations = {
  timeline: operation({
    summary: "Show what happened with agents.",
    description:
      "Of the last 30 days, the newest first: starts, prompts, questions, answers and by whom, ends of turns with the last " +
      "words, ends, new names. An agent on another machine is asked for by its name.",
    scope: "daemon",
    input: timelineRequestSchema,
    output: timelineSchema,
    errors: ["INVALID_ARGUMENT", "NOT_FOUND", "SHUTTING_DOWN"],
    example: {
      input: { agent: "api", query: "delete", limit: 20 },
      output: {
        entries: [
          {
            number: 12,
            unixMs: 1_795_149_767_000,
            agent: EXAMPLE_AGENT.id,
            name: "api",
            server: "main",
            kind: "answer",
            by: "dashboard",
            text: "No, delete nothing",
            options: null,
            outcome: null,
          },
        ],
        next: null,
        keptDays: TIMELINE_DAYS,
        dropped: null,
      },
    },
    run: async (context, _target, { limit = NATIVE_DEFAULT_TIMELINE_LIMIT, ...filter }) => {
      const { entries, next, dropped } = await requireTimeline(context).find({ ...filter, limit });
      return {
        entries: entries.map(nativeEntry),
        next: next ?? null,
        keptDays: TIMELINE_DAYS,
        dropped: dropped ?? null,
      };
    },
  }),
} as const;

/** @throws AppError INVALID_ARGUMENT */
function requireTimeline({ timeline }: OperationContext): Timeline {
  if (timeline !== undefined) return timeline;
  throw invalidArgument("this daemon keeps no timeline; run the daemon of `tmuxwire serve`");
}

const nativeEntry = ({
  number,
  unixMs,
  agent,
  name,
  server,
  kind,
  by,
  text,
  options,
  outcome,
}: TimelineEntry): NativeTimelineEntry => ({
  number,
  unixMs,
  agent,
  name,
  server,
  kind,
  by: by ?? null,
  text: text ?? null,
  options: options === undefined ? null : [...options],
  outcome: outcome ?? null,
});
