/**
 * What was asked of agents, what they asked, and how it ended (docs/contracts/native.md, "Timeline"). Names, texts and options
 * are foreign text.
 */
import * as v from "valibot";
import { count, described, filled, named, optional, orNull, whole } from "../described.ts";

const TIMELINE_KINDS = ["started", "prompt", "question", "answer", "done", "ended", "renamed"] as const;
const kindName = v.picklist(TIMELINE_KINDS);
export type TimelineKind = v.InferOutput<typeof kindName>;

/** By which way a request for an agent came. */
export type TimelineWay = "api" | "mcp" | "dashboard" | "notification";

const TIMELINE_OUTCOMES = ["taken", "queued", "unconfirmed", "interrupted", "unseen"] as const;
const outcomeName = v.picklist(TIMELINE_OUTCOMES);
export type TimelineOutcome = v.InferOutput<typeof outcomeName>;

/** Older entries are removed. */
export const TIMELINE_DAYS = 30;
export const NATIVE_DEFAULT_TIMELINE_LIMIT = 100;
const NATIVE_MAX_TIMELINE_LIMIT = 500;

const timelineEntrySchema = v.object({
  number: count("Grows with every entry of the daemon."),
  unixMs: described(v.number(), "When: Unix time in milliseconds."),
  agent: named(v.string(), "The agent's id."),
  name: named(v.string(), "Its name, then."),
  server: named(v.string(), "Its server's name."),
  kind: described(kindName, "What has happened."),
  by: orNull(
    v.string(),
    "Who: api, mcp, dashboard, notification, message, team or team:ID; pane: in its pane; server: its tmux server has ended; null: it did, or nobody knows.",
  ),
  text: orNull(
    v.string(),
    "The prompt, the question, the answer, its last words, what was started, or its earlier name; null if unknown. Foreign text, cut after 4000 characters.",
  ),
  options: orNull(v.array(v.string()), "Of a question. Foreign text."),
  outcome: orNull(
    outcomeName,
    "Of a prompt: taken, queued or unconfirmed. Of done: interrupted. Of ended: unseen, while no daemon looked. Else null.",
  ),
});
export type NativeTimelineEntry = v.InferOutput<typeof timelineEntrySchema>;

export const timelineRequestSchema = v.strictObject({
  agent: v.optional(named(filled(256), "Only of this agent, by its name or id; of ended ones, too.")),
  server: v.optional(named(filled(128), "Only of agents on this server.")),
  query: optional(filled(256), "Only entries with this text in them, in whatever case."),
  kind: optional(kindName, "Only entries of this kind."),
  before: optional(whole(1, Number.MAX_SAFE_INTEGER), "Only entries older than the one with this number."),
  limit: optional(whole(1, NATIVE_MAX_TIMELINE_LIMIT), "At most so many; default 100."),
});
export type NativeTimelineRequest = v.InferInput<typeof timelineRequestSchema>;

export const timelineSchema = v.object({
  entries: described(v.array(timelineEntrySchema), "The newest first."),
  next: orNull(v.number(), "Pass it as `before` for older ones; null if there are none."),
  keptDays: count("Older entries are removed."),
  dropped: orNull(
    v.object({
      entries: count("How many."),
      untilUnixMs: described(v.number(), "The newest of them: Unix time in milliseconds."),
    }),
    "Entries of the last 30 days that were removed because there were too many, of the agent or in all.",
  ),
});
export type NativeTimeline = v.InferOutput<typeof timelineSchema>;
