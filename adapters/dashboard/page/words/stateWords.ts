/** What an agent is doing and by which evidence, in the page's words. */
import { isHookName } from "../../hooks/hookNames.ts";
import type { DashboardScreens } from "../../../../protocol/api/dashboard.ts";
import type { AgentCard } from "../model/agentCard.ts";
import type { Need } from "../model/order.ts";
import { needOf } from "../model/order.ts";

export const NEED_HEADINGS: Readonly<Record<Need, string>> = {
  asking: "Needs you",
  ready: "Ready",
  working: "Working",
  gone: "Not reachable",
};

/** In the place of a host's name. */
export const THIS_MACHINE = "This machine";

/** The sources of readiness (`daemon/readiness`). */
const SOURCES: ReadonlyMap<string, string> = new Map([
  ["exit", "tmux says the program has ended"],
  ["hook", "said by the agent's hook"],
  ["osc7501", "said by the program"],
  ["osc133", "shell mark"],
  ["title", "pane title"],
  ["bracketedPaste", "prompt is open"],
  ["screen", "seen on screen"],
]);

/** The readiness that explains each need: evidence of any other explains nothing. */
const FITTING: Readonly<Record<Need, string>> = { asking: "asking", ready: "idle", working: "busy", gone: "dead" };

/** The reason for the card's state; empty if unknown. */
export function reasonText(card: AgentCard): string {
  if (card.far?.awaySinceUnixMs !== undefined) return `${card.far.host} is away: this is what was seen last`;
  if (card.far !== undefined) return card.far.why;
  if (!card.is_bridge_connected) return goneText(card);
  const { readiness } = card;
  const reason = card.reason.replaceAll("_", "-");
  const hook = isHookName(reason) ? `hook: ${reason}` : "";
  if (readiness === null || readiness.state !== FITTING[needOf(card)]) return hook;
  if (readiness.source === "screen" && readiness.state === "asking") return "dialog on screen";
  if (readiness.source === "hook" && hook !== "") return hook;
  return SOURCES.get(readiness.source) ?? hook;
}

function goneText({ tmux_pane_id: paneId, readiness }: AgentCard): string {
  if (paneId === null) return "no tmux pane is known: the agent's next hook names it";
  if (readiness?.state === "dead") return "the program has ended";
  return "no agent program in its pane, or the pane is gone";
}

/** `Done` is the contract's COMPLETE: free, with a task behind it. */
export function labelOf(card: AgentCard): string {
  const need = needOf(card);
  if (need === "asking") return "Input needed";
  if (card.far?.awaySinceUnixMs !== undefined) return "Host away";
  if (card.far?.state === "unknown") return "Not known";
  return need === "ready" && card.state === "COMPLETE" ? "Done" : NEED_HEADINGS[need];
}

/** The agent's name, with its machine if that is another one; a session without a project still has one. */
export const nameOf = ({ project_name: project, session, agent_id: agentId, far }: AgentCard): string =>
  `${project || session || `agent ${agentId}`}${far === undefined ? "" : `@${far.host}`}`;

/** Names by which agents can be told apart: of several with one name, all but the first have a number. */
export function namesOf(cards: Iterable<AgentCard>): ReadonlyMap<number, string> {
  const counts = new Map<string, number>();
  // Of other machines, numbers go down from zero.
  const byAge = [...cards].sort((a, b) => Math.abs(a.agent_id) - Math.abs(b.agent_id));
  return new Map(
    byAge.map((card) => {
      const name = nameOf(card);
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      return [card.agent_id, count === 1 ? name : `${name} (${count})`];
    }),
  );
}

/** For the tab: how many ask, before the name. */
export const titleText = (asking: number): string => (asking === 0 ? "tmuxwire" : `(${asking}) tmuxwire`);

/** After a search over screens; undefined: all of them were looked at. */
export function unseenWords({
  unread,
  unreachable,
}: Omit<DashboardScreens, "found" | "elsewhere">): string | undefined {
  const parts = [
    ...(unread === 0 ? [] : [unread === 1 ? "1 screen" : `${unread} screens`]),
    ...(unreachable.length === 0 ? [] : [`the screens of ${unreachable.join(", ")}`]),
  ];
  return parts.length === 0 ? undefined : `Not looked at: ${parts.join(", and ")}.`;
}
