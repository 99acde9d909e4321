/** Who needs me: agents that ask, the longest wait first; then the free, the working, the gone. */
import type { AgentCard } from "./agentCard.ts";

export type Need = "asking" | "ready" | "working" | "gone";

const NEEDS: readonly Need[] = ["asking", "ready", "working", "gone"];

/** An agent whose program is gone cannot be answered, whatever it asked last. */
export function needOf({ is_bridge_connected: available, state }: AgentCard): Need {
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
  const since = a.state_since_unix_ms - b.state_since_unix_ms;
  return since || b.priority - a.priority || a.agent_id - b.agent_id;
}

function byProject(a: AgentCard, b: AgentCard): number {
  return a.project_name.localeCompare(b.project_name) || a.agent_id - b.agent_id;
}
