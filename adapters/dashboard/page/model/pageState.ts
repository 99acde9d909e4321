/** Everything the page shows, and those changes to it that are more than setting a field. */
import type { AgentCard } from "./agentCard.ts";
import type { Agents } from "./agents.ts";
import { replaces, sameQuestion } from "./answers.ts";
import type { Hosts } from "./otherHosts.ts";
import { inOrder, type Listing, needOf } from "./order.ts";

/** Progress of the last answer to an agent. */
export type AnswerProgress =
  | { readonly kind: "sending"; readonly tries: number }
  /** `isSure`: the agent is known to have it. */
  | { readonly kind: "delivered"; readonly words: string; readonly isSure: boolean }
  | { readonly kind: "failed"; readonly words: string };

/** Of the page to the daemon. */
export type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The next try is at `retryAtMs` of the clock. */
  | { readonly kind: "lost"; readonly retryAtMs: number; readonly message: string }
  /** A retry would change nothing. */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  | { readonly kind: "closed" };

export interface PageState {
  readonly agents: Agents;
  /** The other machines, by name. */
  readonly hosts: Hosts;
  /** A listing has come at least once. */
  readonly loaded: boolean;
  /** What is wrong with the listing while the connection is up. */
  readonly problem: string | undefined;
  readonly link: LinkState;
  /** Since when (unix ms) the daemon has been waiting until tmux is calm. */
  readonly waitingSinceUnixMs: number | undefined;
  /** Since when (unix ms) tmux has not been running; undefined: it runs. */
  readonly goneSinceUnixMs: number | undefined;
  readonly tokenWanted: boolean;
  readonly answers: ReadonlyMap<number, AnswerProgress>;
  /** Unsent text, so that a card can move without losing it. */
  readonly drafts: ReadonlyMap<number, string>;
  /** Until when (unix ms) a question ignores presses, which were meant for the one before it; of an agent that asks nothing, until when its next question does so. */
  readonly settling: ReadonlyMap<number, number>;
  /** Unsent prompts: an answer's text must never become a prompt, nor the other way. */
  readonly prompts: ReadonlyMap<number, string>;
  /** Whose prompt box is open although nothing is written in it. */
  readonly promptingId: number | undefined;
  /** For whose prompt box templates are shown, and that box's id. */
  readonly templates: { readonly agentId: number; readonly field: string } | undefined;
  readonly listing: Listing;
  /** The name of the tmux server. */
  readonly server: string;
  /** Whose history and name are open. */
  readonly detailsId: number | undefined;
  readonly startOpen: boolean;
  readonly selectedId: number | undefined;
  readonly openPaneId: number | undefined;
  readonly helpOpen: boolean;
  readonly recordingsOpen: boolean;
  /** Whose pane's alone; undefined: all. */
  readonly recordingsId: number | undefined;
  readonly timelineOpen: boolean;
  /** Whose alone; undefined: everybody's. */
  readonly timelineId: number | undefined;
  /** The server's time as far as known, for ages. */
  readonly nowUnixMs: number;
  /** For screen readers. */
  readonly announcement: string;
}

/** From seeing a button to pressing it; shorter than reading a new question takes. */
export const SETTLE_MS = 400;
/** From the end of a question: its agent's next one within this may get a press that was meant for it. */
const MEANT_MS = 1_000;

export const firstState = (nowUnixMs: number): PageState => ({
  agents: new Map(),
  hosts: new Map(),
  loaded: false,
  problem: undefined,
  link: { kind: "connecting" },
  waitingSinceUnixMs: undefined,
  goneSinceUnixMs: undefined,
  tokenWanted: false,
  answers: new Map(),
  drafts: new Map(),
  settling: new Map(),
  prompts: new Map(),
  promptingId: undefined,
  templates: undefined,
  listing: { grouping: "need", filter: "", host: undefined },
  server: "",
  detailsId: undefined,
  startOpen: false,
  selectedId: undefined,
  openPaneId: undefined,
  helpOpen: false,
  recordingsOpen: false,
  recordingsId: undefined,
  timelineOpen: false,
  timelineId: undefined,
  nowUnixMs,
  announcement: "",
});

export function withEntry<Value>(
  map: ReadonlyMap<number, Value>,
  key: number,
  value: Value | undefined,
): ReadonlyMap<number, Value> {
  const next = new Map(map);
  if (value === undefined) next.delete(key);
  else next.set(key, value);
  return next;
}

/** The next agents, without outcomes of answers to earlier questions. */
export function withAgents(state: PageState, agents: Agents): PageState {
  if (agents === state.agents) return state;
  let { answers, settling, drafts, prompts } = state;
  const { nowUnixMs } = state;
  for (const [agentId, card] of agents) {
    const before = state.agents.get(agentId);
    const asked = before !== undefined && needOf(before) === "asking" ? before.question : undefined;
    if (needOf(card) !== "asking") {
      if (asked !== undefined) settling = withEntry(settling, agentId, nowUnixMs + MEANT_MS);
      continue;
    }
    if (sameQuestion(before?.question, card.question)) {
      // It was only out of sight, as while the daemon is started again.
      if (asked === undefined && card.question !== undefined) settling = withEntry(settling, agentId, undefined);
      continue;
    }
    if (answers.get(agentId)?.kind !== "sending") answers = withEntry(answers, agentId, undefined);
    if (replaces(asked, card.question) || nowUnixMs < (settling.get(agentId) ?? 0))
      settling = withEntry(settling, agentId, nowUnixMs + SETTLE_MS);
  }
  for (const agentId of state.agents.keys()) {
    if (agents.has(agentId)) continue;
    answers = withEntry(answers, agentId, undefined);
    drafts = withEntry(drafts, agentId, undefined);
    prompts = withEntry(prompts, agentId, undefined);
    settling = withEntry(settling, agentId, undefined);
  }
  const has = (agentId: number | undefined): number | undefined =>
    agentId !== undefined && agents.has(agentId) ? agentId : undefined;
  return {
    ...state,
    agents,
    answers,
    settling,
    drafts,
    prompts,
    promptingId: has(state.promptingId),
    detailsId: has(state.detailsId),
    selectedId: has(state.selectedId),
    openPaneId: has(state.openPaneId),
  };
}

export const askingCards = (agents: Agents): AgentCard[] =>
  inOrder(agents.values()).filter((card) => needOf(card) === "asking");

/** Agents that ask now and did not before. */
export const beganAsking = (before: Agents, now: Agents): AgentCard[] =>
  askingCards(now).filter((card) => {
    const earlier = before.get(card.agent_id);
    if (earlier === undefined) return true;
    // Its machine was away meanwhile.
    const isKnown = earlier.far?.awaySinceUnixMs !== undefined && sameQuestion(earlier.question, card.question);
    return needOf(earlier) !== "asking" && !(isKnown && card.question !== undefined);
  });

/** The card `steps` below the selected one, or the first; it stays at either end. */
export function neighbour(state: PageState, steps: 1 | -1): number | undefined {
  const ids = inOrder(state.agents.values(), state.listing).map((card) => card.agent_id);
  const at = state.selectedId === undefined ? -1 : ids.indexOf(state.selectedId);
  if (at < 0) return ids[0];
  return ids[Math.min(ids.length - 1, Math.max(0, at + steps))];
}

/** The agent that asks and is next below the selected one, around the end. */
export function nextAsking(state: PageState): number | undefined {
  const ids = inOrder(state.agents.values(), state.listing).map((card) => card.agent_id);
  const at = state.selectedId === undefined ? -1 : ids.indexOf(state.selectedId);
  const asking = new Set(askingCards(state.agents).map((card) => card.agent_id));
  return [...ids.slice(at + 1), ...ids.slice(0, at + 1)].find((id) => asking.has(id));
}

/** The card that a key outside any card is for: the selected one, or the only candidate. */
export function target(state: PageState): AgentCard | undefined {
  const selected = state.selectedId === undefined ? undefined : state.agents.get(state.selectedId);
  if (selected !== undefined) return selected;
  const asking = askingCards(state.agents);
  return asking.length === 1 ? asking[0] : undefined;
}
