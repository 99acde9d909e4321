/** A directory with one agent in a server's first pane, without a process: a stub's host has none. */
import { ScreenSearch } from "../../../adapters/agents/running/screenSearch.ts";
import type { AgentDirectory } from "../../../adapters/agents/running/agentDirectory.ts";
import type { AgentChange, RunningAgent } from "../../../adapters/agents/running/runningAgent.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";

interface FakeAgents extends AgentDirectory {
  /** To every subscriber. */
  tell(kind: AgentChange["kind"]): void;
}

export function fakeAgents(server: TmuxServer, serverName = "main"): FakeAgents {
  const agent = {
    id: "agent-3f9c21ab04de",
    name: "api",
    kind: { name: "some", title: "Some", label: "some", marks: [], once: [], profile: {}, plugin: undefined },
    serverName,
    server,
    pane: server.panes()[0]!.id,
    cwd: "/work",
    branch: "main",
    process: { pid: 4_242, start: "1", executable: undefined },
    readiness: {
      state: "idle",
      source: "screen",
      sinceUnixMs: 1_795_149_767_000,
      position: undefined,
      profile: "some",
    } as const,
    endedUnixMs: undefined as number | undefined,
  } satisfies RunningAgent;
  const listeners = new Set<(change: AgentChange) => void>();
  const running = (text: string): RunningAgent | undefined =>
    [agent.name, agent.id].includes(text) && agent.endedUnixMs === undefined ? agent : undefined;
  return {
    agents: () => (agent.endedUnixMs === undefined ? [agent] : []),
    running,
    known: running,
    kind: (name: string) => ({ ...agent.kind, name }),
    find: (text: string) => {
      const found = running(text);
      if (found !== undefined) return found;
      if (text === "gone") return { ...agent, name: text, endedUnixMs: 1_795_149_768_000 };
      throw new AppError("NOT_FOUND", `there is no agent ${text}`);
    },
    rename: (_agent: RunningAgent, name: string) => {
      agent.name = name;
    },
    subscribe: (listener: (change: AgentChange) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    tell: (kind: AgentChange["kind"]) => {
      if (kind === "ended") agent.endedUnixMs = 1_795_149_768_000;
      for (const listener of listeners) listener({ kind, agent });
    },
    check: () => undefined,
    refresh: async () => undefined,
    screens: new ScreenSearch(),
  } as unknown as FakeAgents;
}
