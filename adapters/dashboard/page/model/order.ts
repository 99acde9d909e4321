/** Who needs me: agents that ask, the longest wait first; then the free, the working, the gone. */
import type { AgentCard } from "./agentCard.ts";

export type Need = "asking" | "ready" | "working" | "gone";

const NEEDS: readonly Need[] = ["asking", "ready", "working", "gone"];

/** An agent whose program is gone cannot be answered, whatever it asked last. */
export function needOf({ available, state }: AgentCard): Need {
  if (!available) return "gone";
  switch (state) {
    case "AWAITING_INPUT":
      return "asking";
    case "COMMANDED":
    case "PROCESSING":
      return "working";
    case "IDLE":
    case "COMPLETE":
      return "ready";
  }
}

/** When the present state began, as far as known. */
export const sinceOf = ({ stateSinceUnixMs, readiness, lastSeenUnixMs }: AgentCard): number | undefined =>
  stateSinceUnixMs ?? readiness?.sinceUnixMs ?? lastSeenUnixMs;

interface Group {
  readonly need: Need;
  readonly cards: readonly AgentCard[];
}

/** Non-empty groups only. The order does not depend on the current time, so a card moves only on an event. */
export function groupByNeed(cards: Iterable<AgentCard>): Group[] {
  const all = [...cards];
  return NEEDS.map((need) => ({
    need,
    cards: all.filter((card) => needOf(card) === need).sort(need === "asking" ? byLongestAsking : byProject),
  })).filter((group) => group.cards.length > 0);
}

/** From the top of the page. */
export const inOrder = (cards: Iterable<AgentCard>): AgentCard[] => groupByNeed(cards).flatMap((group) => group.cards);

function byLongestAsking(a: AgentCard, b: AgentCard): number {
  const since = (sinceOf(a) ?? Number.MAX_SAFE_INTEGER) - (sinceOf(b) ?? Number.MAX_SAFE_INTEGER);
  return since || b.priority - a.priority || a.agentId - b.agentId;
}

function byProject(a: AgentCard, b: AgentCard): number {
  return a.projectName.localeCompare(b.projectName) || a.agentId - b.agentId;
}
