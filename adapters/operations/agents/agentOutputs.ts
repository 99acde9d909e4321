/** Agents as the API shows them. */
import { stateOf } from "../../agents/running/agentState.ts";
import type { RunningAgent } from "../../agents/running/runningAgent.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { NativeAgent } from "../../../protocol/api/native/nativeAgents.ts";
import type { WindowId } from "../../../protocol/ids.ts";
import { nativeReadiness } from "../outputs.ts";

export const nativeAgent = (agent: RunningAgent): NativeAgent => agentWith(agent, sessionNames(agent.server));

/** Each server's sessions are looked at once. */
export function nativeAgents(agents: readonly RunningAgent[]): readonly NativeAgent[] {
  const servers = new Map<TmuxServer, ReadonlyMap<WindowId, string>>();
  return agents.map((agent) => {
    const sessions = servers.get(agent.server) ?? sessionNames(agent.server);
    servers.set(agent.server, sessions);
    return agentWith(agent, sessions);
  });
}

/** A window in several sessions has the first one's name. */
function sessionNames(server: TmuxServer): ReadonlyMap<WindowId, string> {
  const names = new Map<WindowId, string>();
  for (const { name, windows } of server.sessions()) {
    for (const window of windows) if (!names.has(window)) names.set(window, name);
  }
  return names;
}

function agentWith(agent: RunningAgent, sessions: ReadonlyMap<WindowId, string>): NativeAgent {
  const { server, pane, readiness } = agent;
  const { state, sinceUnixMs, why } = stateOf(agent);
  const window = agent.endedUnixMs === undefined ? server.findPane(pane)?.window : undefined;
  const dialog = state === "asking" && readiness !== undefined ? nativeReadiness(readiness).dialog : undefined;
  return {
    id: agent.id,
    name: agent.name,
    agent: agent.kind.name,
    version: (readiness?.profile === agent.kind.name ? readiness.version : undefined) ?? null,
    state,
    sinceUnixMs: sinceUnixMs === undefined ? null : Math.round(sinceUnixMs),
    why,
    task: agent.task ?? null,
    lastMessage: agent.lastMessage ?? null,
    question: dialog ?? null,
    cwd: agent.cwd ?? null,
    branch: agent.branch ?? null,
    worktree: agent.worktree ?? null,
    server: agent.serverName,
    session: window === undefined ? null : (sessions.get(window) ?? null),
    window: window ?? null,
    pane,
    pid: agent.process.pid,
    sessionId: agent.sessionId ?? null,
    startedBy: agent.launch?.startedBy ?? null,
    leader: agent.leader ?? null,
  };
}
