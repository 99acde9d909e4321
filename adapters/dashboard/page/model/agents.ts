/**
 * The agents, folded from a listing and from the events after it. An event is either a whole card or a small change to one;
 * folding is idempotent, so a listing can be requested while events arrive.
 */
import { type AgentCard, decodeCard, decodeState, integer, number } from "./agentCard.ts";
import { fieldsOf } from "../../../../protocol/text/jsonObject.ts";

export type Agents = ReadonlyMap<number, AgentCard>;

/** An event's effect: `unknown` means an agent not in the listing, so the listing must be requested again. */
interface Folded {
  readonly agents: Agents;
  readonly unknown: boolean;
}

export function agentsFrom(listing: unknown): Agents {
  const cards = fieldsOf(listing)?.["agents"];
  const decoded = Array.isArray(cards) ? cards.map(decodeCard).filter((card) => card !== undefined) : [];
  return new Map(decoded.map((card) => [card.agentId, card]));
}

/** From a listing or a `server_waiting`: since when (unix ms) the daemon has been waiting, if it does. */
export const waitingSinceOf = (data: unknown): number | undefined =>
  number(fieldsOf(fieldsOf(data)?.["waiting"])?.["since_unix_ms"]);

/** `name` and `data` as in the event stream (docs/contracts/dashboard.md, "SSE"). */
export function foldEvent(agents: Agents, name: string, data: unknown): Folded {
  switch (name) {
    case "card_refresh": {
      const card = decodeCard(data);
      return card === undefined ? unchanged(agents) : changed(agents, card);
    }
    case "state_changed": {
      const state = decodeState(fieldsOf(data)?.["new_state"]);
      if (state === undefined) return unchanged(agents);
      return patch(agents, data, (card) => (card.state === state ? card : { ...card, state, reason: "" }));
    }
    case "commander_availability": {
      const available = fieldsOf(data)?.["available"] === true;
      return patch(agents, data, (card) => (card.available === available ? card : { ...card, available }));
    }
    case "session_created":
      return { agents, unknown: true };
    case "session_ended": {
      const agentId = agentIdOf(data);
      if (agentId === undefined || !agents.has(agentId)) return unchanged(agents);
      const rest = new Map(agents);
      rest.delete(agentId);
      return { agents: rest, unknown: false };
    }
    // From outside: an event that this page does not show or know.
    default:
      return unchanged(agents);
  }
}

const unchanged = (agents: Agents): Folded => ({ agents, unknown: false });
const changed = (agents: Agents, card: AgentCard): Folded => ({
  agents: new Map(agents).set(card.agentId, card),
  unknown: false,
});

function patch(agents: Agents, data: unknown, change: (card: AgentCard) => AgentCard): Folded {
  const agentId = agentIdOf(data);
  if (agentId === undefined) return unchanged(agents);
  const card = agents.get(agentId);
  if (card === undefined) return { agents, unknown: true };
  const next = change(card);
  return next === card ? unchanged(agents) : changed(agents, next);
}

const agentIdOf = (data: unknown): number | undefined => integer(fieldsOf(data)?.["agent_id"]);
