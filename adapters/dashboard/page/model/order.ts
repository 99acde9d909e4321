/** Who needs me: agents that ask, the longest wait first; then the free, the working, the gone. Or by project or machine. */
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

/** It takes prompts, now or later; one that asks takes answers. */
export const canPrompt = (card: AgentCard): boolean =>
  card.running !== null && (needOf(card) === "ready" || needOf(card) === "working");

export type Grouping = "need" | "project" | "host";

/** What is shown of the list, and how. */
export interface Listing {
  readonly grouping: Grouping;
  /** Words, all of which a card has. */
  readonly filter: string;
  /** Agents that have the filter's text on their screens, by number, with the row; undefined: not looked for. */
  readonly screens?: ReadonlyMap<number, string> | undefined;
  /** Which screens were not looked at; undefined: none. */
  readonly unseen?: string | undefined;
  /** Only those on this machine; empty: on this one; undefined: on all. */
  readonly host: string | undefined;
}

/** Empty: this one. */
const hostOf = ({ far }: AgentCard): string => far?.host ?? "";

interface Group {
  readonly key: string;
  readonly cards: readonly AgentCard[];
}

/** Non-empty groups only. The order does not depend on the current time, so a card moves only on an event. */
export function groupsOf(cards: Iterable<AgentCard>, { grouping, filter, screens, host }: Listing): Group[] {
  const isMeant = (card: AgentCard): boolean => hasWords(card, filter) || screens?.has(card.agent_id) === true;
  const shown = [...cards].filter((card) => (host === undefined || hostOf(card) === host) && isMeant(card));
  if (grouping === "need") {
    return NEEDS.map((need) => ({
      key: need,
      cards: shown.filter((card) => needOf(card) === need).sort(need === "asking" ? byLongestAsking : byProject),
    })).filter((group) => group.cards.length > 0);
  }
  if (grouping === "host") {
    const hosts = [...new Set(shown.map(hostOf))].sort((a, b) => a.localeCompare(b));
    return hosts.map((key) => ({ key, cards: shown.filter((card) => hostOf(card) === key).sort(byNeed) }));
  }
  const projects = [...new Set(shown.map((card) => card.project_path))];
  const nameIn = (path: string): string => shown.find((card) => card.project_path === path)?.project_name ?? "";
  return projects
    .sort((a, b) => nameIn(a).localeCompare(nameIn(b)) || a.localeCompare(b))
    .map((key) => ({ key, cards: shown.filter((card) => card.project_path === key).sort(byNeed) }));
}

const ALL: Listing = { grouping: "need", filter: "", host: undefined };

/** From the top of the page. */
export const inOrder = (cards: Iterable<AgentCard>, listing: Listing = ALL): AgentCard[] =>
  groupsOf(cards, listing).flatMap((group) => group.cards);

/** In its names, its places, its task, its last words and its question; upper and lower case are the same. */
function hasWords(
  { project_name: project, project_path: path, running, question, ...card }: AgentCard,
  filter: string,
) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const texts = [
    project,
    path,
    card.far?.host,
    card.tmux_session,
    card.tmux_pane_id,
    card.task_instruction,
    card.task_summary,
    question?.text,
    ...(running === null
      ? []
      : [running.name, running.agent, running.cwd, running.branch, running.task?.text, running.last_message]),
  ];
  const all = texts.join("\n").toLowerCase();
  return words.every((word) => all.includes(word));
}

function byLongestAsking(a: AgentCard, b: AgentCard): number {
  const since = a.state_since_unix_ms - b.state_since_unix_ms;
  return since || b.priority - a.priority || a.agent_id - b.agent_id;
}

function byProject(a: AgentCard, b: AgentCard): number {
  return a.project_name.localeCompare(b.project_name) || a.agent_id - b.agent_id;
}

const byNeed = (a: AgentCard, b: AgentCard): number =>
  NEEDS.indexOf(needOf(a)) - NEEDS.indexOf(needOf(b)) || a.agent_id - b.agent_id;
