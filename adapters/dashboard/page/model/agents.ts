/**
 * The agents, folded from a listing and from the events after it. An event is either a whole card or a small change to one;
 * folding is idempotent, so a listing can be requested while events arrive.
 */
import type { DashboardAgents, DashboardCard } from "../../../../protocol/api/dashboard.ts";
import { type AgentCard, agentCard } from "./agentCard.ts";

export type Agents = ReadonlyMap<number, AgentCard>;

/** An event's effect: `unknown` means an agent not in the listing, so the listing must be requested again. */
interface Folded {
  readonly agents: Agents;
  readonly unknown: boolean;
}

export const agentsFrom = ({ agents }: DashboardAgents): Agents =>
  new Map(agents.map((card) => [card.agent_id, agentCard(card)]));

/** From a listing or a `server_waiting`: since when (unix ms) the daemon has been waiting, if it does. */
export const waitingSinceOf = (data: { readonly waiting?: { readonly since_unix_ms: number } | null }) =>
  data.waiting?.since_unix_ms;

/** From a `server_gone`. */
export const goneSinceOf = (data: { readonly since_unix_ms?: number | null }): number | undefined =>
  data.since_unix_ms ?? undefined;

/** The members of an event's data that are used here. */
interface EventData {
  readonly agent_id: number;
  /** In either case: `processing`, `AWAITING_INPUT`. */
  readonly new_state: string;
  readonly available: boolean;
}

/** `name` and `data` as in the event stream (docs/contracts/dashboard.md, "SSE"). */
export function foldEvent(agents: Agents, name: string, data: unknown): Folded {
  const { agent_id: agentId, new_state: newState, available } = data as EventData;
  switch (name) {
    case "card_refresh":
      return changed(agents, agentCard(data as DashboardCard));
    case "state_changed": {
      const state = newState.toUpperCase() as AgentCard["state"];
      return patch(agents, agentId, (card) => (card.state === state ? card : { ...card, state, reason: "" }));
    }
    case "commander_availability":
      return patch(agents, agentId, (card) =>
        card.is_bridge_connected === available ? card : { ...card, is_bridge_connected: available },
      );
    case "session_created":
      return { agents, unknown: true };
    case "session_ended": {
      if (!agents.has(agentId)) return unchanged(agents);
      const rest = new Map(agents);
      rest.delete(agentId);
      return { agents: rest, unknown: false };
    }
    // An event that this page does not show or know.
    default:
      return unchanged(agents);
  }
}

const unchanged = (agents: Agents): Folded => ({ agents, unknown: false });
const changed = (agents: Agents, card: AgentCard): Folded => ({
  agents: new Map(agents).set(card.agent_id, card),
  unknown: false,
});

function patch(agents: Agents, agentId: number, change: (card: AgentCard) => AgentCard): Folded {
  const card = agents.get(agentId);
  if (card === undefined) return { agents, unknown: true };
  const next = change(card);
  return next === card ? unchanged(agents) : changed(agents, next);
}
