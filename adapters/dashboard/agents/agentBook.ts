/**
 * The agents that have not ended, in memory and on disk. Memory is authoritative; the store follows a moment later. At
 * most `MAX_AGENTS`, so lookups are linear.
 */
import { homedir } from "node:os";
import { basename, dirname, normalize } from "node:path";
import { AppError } from "../../../protocol/errors.ts";
import { MAX_AGENTS, MAX_EXPECTED_PROMPTS } from "../dashboardLimits.ts";
import type { DashboardStore } from "../store/store.ts";
import { Agent, EMPTY_DIGEST, withTurn } from "./agent.ts";
import { questionOfTurn } from "./questions.ts";
import { type AgentRecord, isFound, type ProjectRecord } from "../store/records.ts";

/** Turns searched for the open question and for answers whose hook has not come yet. */
const RESTORED_TURNS = 32;

export class AgentBook {
  readonly #store: DashboardStore;
  readonly #nowUnixMs: () => number;
  readonly #agents = new Map<number, Agent>();
  readonly #projects = new Map<string, ProjectRecord>();

  constructor(store: DashboardStore, nowUnixMs: () => number) {
    this.#store = store;
    this.#nowUnixMs = nowUnixMs;
    for (const project of store.tables.projects.all()) this.#projects.set(project.path, project);
    for (const record of store.tables.agents.all("WHERE ended_unix_ms IS NULL")) this.#load(record);
  }

  all(): readonly Agent[] {
    return [...this.#agents.values()];
  }

  /** An ended agent is read from disk. */
  find(id: number): Agent | undefined {
    return this.#agents.get(id) ?? this.#stored("WHERE id = ?", id);
  }

  active(id: number): Agent | undefined {
    return this.#agents.get(id);
  }

  byUuid(sessionUuid: string): Agent | undefined {
    const known = this.all().find((agent) => agent.record.sessionUuid === sessionUuid);
    return known ?? this.#stored("WHERE session_uuid = ?", sessionUuid);
  }

  /** In memory first, which is the contract's cache. */
  bySession(agentSessionId: string): { readonly agent: Agent; readonly isCached: boolean } | undefined {
    const known = this.all().find((agent) => agent.record.agentSessionId === agentSessionId);
    const latest = "WHERE claude_session_id = ? ORDER BY last_seen_unix_ms DESC LIMIT 1";
    const agent = known ?? this.#stored(latest, agentSessionId);
    return agent === undefined ? undefined : { agent, isCached: known !== undefined };
  }

  /** The agent in this pane of this tmux server; another server's pane ids mean other panes. */
  inPane(pane: string, server: string | undefined): Agent | undefined {
    return this.#latest(({ tmuxPaneId, paneServer }) => tmuxPaneId === pane && isSameServer(paneServer, server));
  }

  /** Registered for this directory and not yet claimed by a session. */
  unclaimedIn(project: ProjectRecord): Agent | undefined {
    return this.#latest(
      (record) => record.projectId === project.id && record.agentSessionId === undefined && !isFound(record),
    );
  }

  #latest(isMeant: (record: AgentRecord) => boolean): Agent | undefined {
    const found = this.all().filter(({ record }) => isMeant(record));
    return found.sort((a, b) => b.record.lastSeenUnixMs - a.record.lastSeenUnixMs)[0];
  }

  /**
   * The registered project that the directory is in, the innermost of several.
   * @param registers where there is none, the directory becomes one @throws AppError RESOURCE_LIMIT
   */
  projectOf(named: string | undefined, registers: boolean): ProjectRecord | undefined {
    if (named === undefined || !named.startsWith("/")) return undefined;
    const directory = projectPath(named);
    for (let path = directory; ; path = dirname(path)) {
      const project = this.#projects.get(path);
      if (project !== undefined && (path === directory || !registers || !isEverybodys(path))) return project;
      if (dirname(path) === path) break;
    }
    return registers ? this.putProject({ path: directory, name: nameOf(directory), branch: undefined }) : undefined;
  }

  /** @throws AppError RESOURCE_LIMIT */
  putProject(project: Omit<ProjectRecord, "id">): ProjectRecord {
    const known = this.#projects.get(project.path);
    if (known !== undefined && known.branch === (project.branch ?? known.branch)) return known;
    const kept = known === undefined ? { ...project, id: this.#store.nextId("projects") } : { ...known, ...project };
    this.#store.save("projects", kept);
    this.#projects.set(kept.path, kept);
    return kept;
  }

  /** @throws AppError RESOURCE_LIMIT */
  add(sessionUuid: string, project: ProjectRecord, facts: Partial<AgentRecord>): Agent {
    this.#requireRoom();
    const nowUnixMs = this.#nowUnixMs();
    const known = { sessionUuid, projectId: project.id, startedUnixMs: nowUnixMs, lastSeenUnixMs: nowUnixMs };
    const kept: AgentRecord = { ...known, ...facts, id: this.#store.nextId("agents") };
    this.#store.save("agents", kept);
    const agent = new Agent(kept, project, undefined);
    this.#agents.set(kept.id, agent);
    return agent;
  }

  /** One that was known by its process alone is registered. */
  register(agent: Agent, sessionUuid: string, project: ProjectRecord, facts: Partial<AgentRecord>): Agent {
    agent.project = project;
    this.update(agent, { ...facts, sessionUuid, projectId: project.id });
    return agent;
  }

  update(agent: Agent, changes: Partial<Omit<AgentRecord, "id">>): void {
    agent.record = { ...agent.record, ...changes };
    this.#store.save("agents", agent.record);
  }

  /** A hook of an ended agent proves that it still runs. @throws AppError RESOURCE_LIMIT */
  reopen(agent: Agent): Agent {
    const known = this.#agents.get(agent.record.id);
    if (known !== undefined) return known;
    this.#requireRoom();
    const { tmuxPaneId, paneServer } = agent.record;
    // Others may have its pane by now, and it may be another process.
    const isTaken = tmuxPaneId !== undefined && this.inPane(tmuxPaneId, paneServer) !== undefined;
    const nowhere = isTaken ? { tmuxPaneId: undefined, paneServer: undefined } : {};
    this.#agents.set(agent.record.id, agent);
    this.update(agent, { endedUnixMs: undefined, process: undefined, ...nowhere });
    return agent;
  }

  end(agent: Agent): void {
    const atUnixMs = this.#nowUnixMs();
    this.update(agent, { endedUnixMs: atUnixMs, lastSeenUnixMs: atUnixMs });
    this.#agents.delete(agent.record.id);
  }

  #requireRoom(): void {
    if (this.#agents.size < MAX_AGENTS) return;
    throw new AppError("RESOURCE_LIMIT", `There are ${MAX_AGENTS} agents already: end some of them first.`);
  }

  #load(record: AgentRecord): void {
    const agent = this.#agentOf(record);
    this.#agents.set(record.id, agent);
    const { task } = agent;
    if (task === undefined) return;
    const turns = this.#store.turns(record.id, RESTORED_TURNS).filter((turn) => turn.taskId === task.id);
    const digest = turns.toReversed().reduce(withTurn, EMPTY_DIGEST);
    agent.digest = { ...digest, turnCount: this.#store.turnCount(task.id) };
    if (task.state === "complete") return;
    const echoes = turns.filter(({ isEchoPending }) => isEchoPending).slice(0, MAX_EXPECTED_PROMPTS);
    agent.expectedPrompts.push(...echoes.reverse());
    const asked = turns.find((turn) => turn.intent === "question");
    if (task.state === "awaiting_input" && asked !== undefined) agent.question = questionOfTurn(asked);
  }

  #stored(where: string, value: string | number): Agent | undefined {
    const record = this.#store.tables.agents.first(where, value);
    return record === undefined ? undefined : this.#agentOf(record);
  }

  #agentOf(record: AgentRecord): Agent {
    const project = [...this.#projects.values()].find(({ id }) => id === record.projectId);
    const unknown: ProjectRecord = { id: record.projectId, name: "", path: "", branch: undefined };
    const task = this.#store.tables.tasks.first("WHERE agent_id = ? ORDER BY id DESC LIMIT 1", record.id);
    return new Agent(record, project ?? unknown, task);
  }
}

/** A pane reported while no server was connected counts as one of the present server. */
export const isSameServer = (reported: string | undefined, now: string | undefined): boolean =>
  reported === undefined || now === undefined || reported === now;

/** An agent that was started there is in no project, and must not take in all others. */
const isEverybodys = (path: string): boolean => path === "/" || path === homedir();

/** Without a trailing slash and without `..`. */
export const projectPath = (path: string): string => {
  const normal = normalize(path);
  return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
};

export const nameOf = (path: string): string => (basename(path) === "" ? path : basename(path));
