/** Texts of the timeline. */
import type { NativeTimelineEntry } from "../../../../protocol/api/native/nativeTimeline.ts";

type Kind = NativeTimelineEntry["kind"];

export const KIND_WORDS: Readonly<Record<Kind, string>> = {
  started: "Started",
  prompt: "Prompt",
  question: "Question",
  answer: "Answer",
  done: "Done",
  ended: "Ended",
  renamed: "Renamed",
};

const WHO: ReadonlyMap<string, string> = new Map([
  ["api", "command line or API"],
  ["mcp", "MCP"],
  ["message", "waiting message"],
  ["pane", "in its pane"],
  ["server", "with its tmux server"],
]);

const OUTCOMES: Readonly<Record<NonNullable<NativeTimelineEntry["outcome"]>, string>> = {
  taken: "taken",
  queued: "queued by the agent",
  unconfirmed: "not confirmed",
  interrupted: "interrupted",
  unseen: "while no daemon ran",
};

/** `Answer · dashboard`. */
export const headOf = ({ kind, by, outcome }: Pick<NativeTimelineEntry, "kind" | "by" | "outcome">): string =>
  [KIND_WORDS[kind], by === null ? "" : (WHO.get(by) ?? by), outcome === null ? "" : OUTCOMES[outcome]]
    .filter((part) => part !== "")
    .join(" · ");

/** What is written below; of a new name the one before. */
export function bodyOf({ kind, by, text }: Pick<NativeTimelineEntry, "kind" | "by" | "text">): string {
  if (kind === "renamed") return `It was called ${text ?? ""}.`;
  if (text !== null) return text;
  if (kind === "answer" && by === "pane") return "Answered by keys in its pane.";
  return kind === "question" ? "Its question could not be read." : "";
}
