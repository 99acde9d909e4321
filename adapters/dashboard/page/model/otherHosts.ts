/**
 * Other machines and their agents, folded from events. While a machine is away its agents stay, as they were seen last, and can
 * be asked nothing; when it is back it says anew which run.
 */
import type { HostAgent, HostEvent, HostMessage } from "../../../../protocol/api/dashboardHosts.ts";
import type { NativeHost } from "../../../../protocol/api/native/nativeHosts.ts";
import type { AgentCard, Question } from "./agentCard.ts";
import type { Agents } from "./agents.ts";

interface Host {
  readonly name: string;
  /** No daemon runs there, so no agent can be started by it. */
  readonly isAgentless: boolean;
  /** Why it is not connected, and what to do about it, in the daemon's words; undefined: it is, or is being connected. */
  readonly away: { readonly words: string; readonly sinceUnixMs: number } | undefined;
  /** Why not all of its agents are shown. */
  readonly problem: string | undefined;
}
export type Hosts = ReadonlyMap<string, Host>;

interface Known {
  readonly agents: Agents;
  readonly hosts: Hosts;
}

export const isHostEvent = (name: string): boolean => name === "hosts" || name.startsWith("host_") || name === "host";

export function foldHostEvent({ agents, hosts }: Known, event: HostEvent): Known {
  switch (event.type) {
    case "hosts": {
      const next = new Map(event.hosts.map((host) => [host.name, hostNow(host, hosts.get(host.name))]));
      const kept = [...agents].filter(([, { far }]) => far === undefined || next.has(far.host));
      return { hosts: next, agents: withAway(new Map(kept), next) };
    }
    case "host": {
      const { host } = event;
      const next = new Map(hosts).set(host.name, hostNow(host, hosts.get(host.name)));
      return { hosts: next, agents: withAway(agents, next) };
    }
    case "host_removed": {
      const next = new Map(hosts);
      next.delete(event.host);
      return { hosts: next, agents: new Map([...agents].filter(([, { far }]) => far?.host !== event.host)) };
    }
    case "host_problem":
      return { agents, hosts: withProblem(hosts, event.host, event.problem) };
    case "host_agents": {
      const next = new Map([...agents].filter(([, { far }]) => far?.host !== event.host));
      const messages = messagesOf(event.messages);
      for (const agent of event.agents) {
        // A card that was there keeps its number, and with it what is written on it.
        const id = numberOf(agents, agent.id) ?? newNumber(agents, next);
        next.set(id, hostCard(event.host, agent, messages.get(agent.id) ?? [], id));
      }
      return { hosts: withProblem(hosts, event.host, undefined), agents: next };
    }
    case "host_agent": {
      const { agent, host } = event;
      const known = numberOf(agents, agent.id);
      const next = new Map(agents);
      if (agent.state === "ended") {
        if (known !== undefined) next.delete(known);
      } else {
        const id = known ?? newNumber(agents, next);
        next.set(id, hostCard(host, agent, agents.get(id)?.running?.messages ?? [], id));
      }
      return { hosts, agents: next };
    }
    case "host_messages": {
      const messages = messagesOf(event.messages);
      const next = new Map(agents);
      for (const [id, card] of agents) {
        if (card.far?.host !== event.host || card.running === null) continue;
        next.set(id, { ...card, running: { ...card.running, messages: messages.get(card.running.id) ?? [] } });
      }
      return { hosts, agents: next };
    }
  }
}

/** Where a new agent is started there: on the tmux server on which its agents run. */
export function serverOn(host: string, agents: Agents): string {
  const one = [...agents.values()].find(({ far }) => far?.host === host);
  return one?.far?.server ?? `default@${host}`;
}

/** Those on which an agent can be started now. */
export const startHosts = (hosts: Hosts): readonly string[] =>
  [...hosts.values()].flatMap(({ name, isAgentless, away }) => (isAgentless || away !== undefined ? [] : [name]));

/** A new listing of this machine's agents changes nothing about the others. */
export const withFar = (listed: Agents, before: Agents): Agents =>
  new Map([...listed, ...[...before].filter(([, { far }]) => far !== undefined)]);

/** Each try to connect is a state of its own: it is away since the first that failed, for the reason of the last. */
function hostNow(
  { name, agentless: isAgentless, state, why, sinceUnixMs }: NativeHost,
  before: Host | undefined,
): Host {
  const problem = before?.problem;
  if (state === "connected") return { name, isAgentless, away: undefined, problem };
  if (state === "connecting") return { name, isAgentless, away: before?.away, problem };
  return {
    name,
    isAgentless,
    away: { words: why ?? state, sinceUnixMs: before?.away?.sinceUnixMs ?? sinceUnixMs },
    problem,
  };
}

function withProblem(hosts: Hosts, name: string, problem: string | undefined): Hosts {
  const host = hosts.get(name);
  return host === undefined || host.problem === problem ? hosts : new Map(hosts).set(name, { ...host, problem });
}

/** Back is only what its machine has told anew. */
function withAway(agents: Agents, hosts: Hosts): Agents {
  const next = new Map(agents);
  for (const [id, card] of agents) {
    const away = card.far === undefined ? undefined : hosts.get(card.far.host)?.away;
    if (card.far === undefined || away === undefined || card.far.awaySinceUnixMs === away.sinceUnixMs) continue;
    next.set(id, {
      ...card,
      is_bridge_connected: false,
      state_since_unix_ms: away.sinceUnixMs,
      far: { ...card.far, awaySinceUnixMs: away.sinceUnixMs },
    });
  }
  return next;
}

function numberOf(agents: Agents, id: string): number | undefined {
  for (const [number, { far, running }] of agents) if (far !== undefined && running?.id === id) return number;
  return undefined;
}

/** Below zero: this machine's dashboard counts its agents from 1. */
const newNumber = (...all: readonly Agents[]): number =>
  Math.min(0, ...all.flatMap((agents) => [...agents.keys()])) - 1;

type Messages = NonNullable<AgentCard["running"]>["messages"];

function messagesOf(messages: readonly HostMessage[]): ReadonlyMap<string, Messages> {
  const byAgent = new Map<string, Messages>();
  for (const { id, agent, text, outcome, reason, createdUnixMs } of messages) {
    const message = { id, text, outcome, reason, created_unix_ms: createdUnixMs };
    byAgent.set(agent, [...(byAgent.get(agent) ?? []), message]);
  }
  return byAgent;
}

const STATES = {
  starting: "COMMANDED",
  ready: "IDLE",
  busy: "PROCESSING",
  asking: "AWAITING_INPUT",
  ended: "COMPLETE",
  // It may be at work: a prompt waits until that is known.
  unknown: "COMMANDED",
} as const satisfies Readonly<Record<HostAgent["state"], AgentCard["state"]>>;

/** With the members that the contract's other pages use left empty. */
function hostCard(host: string, agent: HostAgent, messages: Messages, agentId: number): AgentCard {
  const { state, question, task, cwd } = agent;
  const name = agent.name.slice(0, agent.name.lastIndexOf("@"));
  const project = cwd?.split("/").findLast(Boolean) ?? "";
  return {
    id: agentId,
    agent_id: agentId,
    project_id: 0,
    project_name: project === "" ? name : project,
    project_path: cwd ?? "",
    project_slug: "",
    session: name,
    hero_chars: "",
    hero_trail: "",
    session_uuid: agent.id,
    state: state === "ready" && task !== null ? "COMPLETE" : STATES[state],
    state_info: { color: "", bg_class: "", label: "" },
    is_bridge_connected: true,
    is_active: true,
    uptime: "",
    elapsed: null,
    last_seen: "",
    last_seen_unix_ms: 0,
    state_since_unix_ms: agent.sinceUnixMs ?? 0,
    priority: 0,
    priority_reason: null,
    reason: "",
    current_task_id: null,
    task_instruction: null,
    task_summary: "",
    task_completion_summary: null,
    turn_count: 0,
    has_plan: false,
    context: null,
    tmux_pane_id: agent.pane,
    tmux_session: agent.session,
    iterm_pane_id: null,
    readiness: null,
    question: state === "asking" && question !== null ? questionOf(question) : undefined,
    question_options: null,
    last_delivery: null,
    running: {
      id: agent.id,
      name,
      agent: agent.agent,
      version: agent.version,
      cwd,
      branch: agent.branch,
      worktree: null,
      task: task === null ? null : { text: task.text, since_unix_ms: task.sinceUnixMs },
      last_message: agent.lastMessage,
      messages,
    },
    timestamp: "",
    far: { host, server: agent.server, state, why: agent.why, awaySinceUnixMs: undefined },
  };
}

function questionOf({ id, text, options: sent, otherIndex, multi }: NonNullable<HostAgent["question"]>): Question {
  const options = sent.map(({ index, number = null, label, keys }) => ({
    index,
    number,
    label,
    keys: [...keys],
    description: "",
  }));
  return {
    text,
    kind: multi ? "multi_select" : "select",
    options,
    other_index: otherIndex ?? null,
    dialog_id: id,
    parts: multi ? [{ text: "", isMulti: true, options }] : [],
    safety: "unknown",
    command: "",
    purpose: "",
    diff: undefined,
  };
}
