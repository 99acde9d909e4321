/** What was asked of agents, what they asked, and how it ended. */
import {
  NATIVE_DEFAULT_TIMELINE_LIMIT,
  type NativeTimelineEntry,
  TIMELINE_DAYS,
  timelineRequestSchema,
  timelineSchema,
} from "../../../protocol/api/native/nativeTimeline.ts";
import type { Timeline } from "../../agents/timeline/timeline.ts";
import type { TimelineEntry } from "../../agents/timeline/timelineStore.ts";
import { EXAMPLE_AGENT } from "../examples.ts";
import { operation, type OperationContext, requirePart } from "../operation.ts";

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
const requireTimeline = ({ timeline }: OperationContext): Timeline =>
  requirePart(timeline, "keeps no timeline; run the daemon of `tmuxwire serve`");

const nativeEntry = (entry: TimelineEntry): NativeTimelineEntry => ({
  number: entry.number,
  unixMs: entry.unixMs,
  agent: entry.agent,
  name: entry.name,
  server: entry.server,
  kind: entry.kind,
  by: entry.by ?? null,
  text: entry.text ?? null,
  options: entry.options === undefined ? null : [...entry.options],
  outcome: entry.outcome ?? null,
});
