/**
 * The coding agents that run in the panes of every server that the daemon serves: found by their processes, named, judged,
 * and told about. One check a second looks at all panes (`PaneLook`), reading the host's processes alone; what tmux tells of
 * panes causes a check at once. An agent is one process: it ends when that does, and what runs after it is another agent.
 */
import { hasLeftTerminal, isSameProcess, LAUNCHED_WITHIN_SEC, markOf } from "../../../daemon/panes/foreground.ts";
import { hasEnded } from "../../../daemon/host/procfs.ts";
import type { Database } from "../../../daemon/ops/sql/sqlite.ts";
import type { Readiness, ReadinessWatcher } from "../../../daemon/readiness/readiness.ts";
import { Listeners } from "../../../daemon/servers/listeners.ts";
import type { Timed, Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { PaneInfo } from "../../../daemon/tmux/inventory.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError, invalidArgument, isCutShort, toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { notFound } from "../../../protocol/text/nearestName.ts";
import type { Agent } from "../catalogue.ts";
import { agentKinds, type FoundAgent } from "./agentKinds.ts";
import type { AgentStore, KeptAgent } from "./agentStore.ts";
import { Announced, type Expected } from "./announced.ts";
import { GitHeads } from "./gitHeads.ts";
import { idOf, LiveAgent, tookOver } from "./liveAgent.ts";
import { PaneLook } from "./paneLook.ts";
import {
  type AgentChange,
  type AgentEvent,
  type AgentFacts,
  keptPrompt,
  MAX_KEPT_CHARS,
  type RunningAgent,
} from "./runningAgent.ts";
import { ScreenSearch } from "./screenSearch.ts";

/** Between two checks of all panes. */
const CHECK_MS = 1_000;
/** Where agents are is asked after so many checks. */
const LOOK_EVERY = 5;
/** A server takes its programs with it: their ends may be seen before its own. */
const WITH_SERVER_MS = 3_000;
/** A list does not wait longer for a directory that does not respond. */
const REFRESH_WITHIN_MS = 50;
/** Agents that have ended and can still be asked for. */
const MAX_ENDED = 200;

interface AgentDirectoryOptions extends Timed {
  readonly catalogue: readonly Agent[];
  readonly readiness: ReadinessWatcher;
  readonly store: AgentStore;
  readonly onError: (error: unknown) => void;
}

interface Served {
  /** As in paths. */
  name: string;
  readonly server: TmuxServer;
  readonly looks: Map<PaneId, PaneLook>;
  /** Of several in one pane (one is stopped) the one that appeared last. */
  readonly agents: Map<PaneId, LiveAgent>;
  readonly announced: Announced;
  users: number;
  /** Whose agents were compared with those that an earlier daemon has left. */
  settled: string | undefined;
  /** Of those: not seen yet, and running as far as is known. */
  unmet: readonly KeptAgent[];
  readonly unsubscribe: () => void;
}

/** What an agent's hook says. Foreign text. */
export interface AgentReport {
  readonly sessionId?: string | undefined;
  readonly transcriptPath?: string | undefined;
  /** It has taken this prompt. */
  readonly prompt?: string | undefined;
  /** Its turn has ended with these words. */
  readonly lastMessage?: string | undefined;
  /** A session has begun in it. */
  readonly starts?: boolean | undefined;
}

export class AgentDirectory {
  readonly #options: AgentDirectoryOptions;
  readonly #kinds: ReturnType<typeof agentKinds>;
  readonly #servers = new Map<TmuxServer, Served>();
  /** By id, in the order in which they appeared. */
  readonly #running = new Map<string, LiveAgent>();
  readonly #ended = new Map<string, LiveAgent>();
  /** Of agents' screens. */
  readonly screens = new ScreenSearch();
  readonly #changes: Listeners<AgentChange>;
  readonly #events: Listeners<AgentEvent>;
  readonly #checked: Listeners<void>;
  readonly #heads: GitHeads;
  #timer: Timer | undefined;
  #checks = 0;
  #isClosed = false;

  constructor(options: AgentDirectoryOptions) {
    this.#options = options;
    this.#heads = new GitHeads(options.clock);
    this.#changes = new Listeners(options.onError);
    this.#events = new Listeners(options.onError);
    this.#checked = new Listeners(options.onError);
    this.#kinds = agentKinds(options.catalogue, options.readiness.profiles.all);
  }

  get database(): Database {
    return this.#options.store.database;
  }

  /** Another daemon of the same user keeps its agents on disk; this one keeps its own in memory. */
  get isKeptElsewhere(): boolean {
    return this.#options.store.isKeptElsewhere;
  }

  /** Those that run. */
  agents(): readonly RunningAgent[] {
    return [...this.#running.values()];
  }

  /** By id or name; one that has ended by its id, or by its name if none has it now. @throws AppError NOT_FOUND */
  find(text: string): RunningAgent {
    const found = this.known(text);
    if (found !== undefined) return found;
    const names = this.agents().map(({ name }) => name);
    throw notFound(`there is no agent ${JSON.stringify(text)}; run \`tmuxwire agents\``, text, names);
  }

  /** As `find`. */
  known(text: string): RunningAgent | undefined {
    const running = this.running(text) ?? this.#ended.get(text);
    return running ?? [...this.#ended.values()].findLast(({ name }) => name === text);
  }

  /** By id or name. */
  running(text: string): RunningAgent | undefined {
    return this.#running.get(text) ?? this.#named(text);
  }

  /** By its name in the catalogue. @throws AppError NOT_FOUND */
  kind(name: string): Agent {
    const kinds = this.#kinds.map(({ agent }) => agent);
    const found = kinds.find((kind) => kind.name === name);
    if (found !== undefined) return found;
    const names = kinds.map((kind) => kind.name);
    throw notFound(`there is no agent called ${JSON.stringify(name)}; use one of ${names.join(", ")}`, name, names);
  }

  #named(name: string): LiveAgent | undefined {
    for (const agent of this.#running.values()) if (agent.name === name) return agent;
    return undefined;
  }

  /** The one that appeared last. */
  inPane(server: TmuxServer, pane: PaneId): LiveAgent | undefined {
    return this.#servers.get(server)?.agents.get(pane);
  }

  /** Also one that has ended lately; a server that is started again has other panes with the same ids. */
  lastInPane(server: TmuxServer, pane: PaneId): RunningAgent | undefined {
    const { identity } = server.status();
    const isMeant = (agent: LiveAgent): boolean =>
      agent.server === server && agent.pane === pane && agent.identity === identity;
    return this.inPane(server, pane) ?? [...this.#ended.values()].findLast(isMeant);
  }

  /** A listener that throws does not affect the others. Returns the unsubscribe function. */
  subscribe(listener: (change: AgentChange) => void): () => void {
    return this.#changes.subscribe(listener);
  }

  /** Of what does not show in a state. A listener that throws does not affect the others. Returns the unsubscribe function. */
  onEvent(listener: (event: AgentEvent) => void): () => void {
    return this.#events.subscribe(listener);
  }

  /** Called after each check of all panes, so that nobody else has to look once a second. Returns the unsubscribe function. */
  onCheck(listener: () => void): () => void {
    return this.#checked.subscribe(listener);
  }

  /** Members that are undefined stay as they were. */
  note(agent: RunningAgent, facts: AgentFacts): void {
    const live = this.#live(agent);
    if (live !== undefined && facts.lastMessage !== undefined) {
      this.#events.emit({ kind: "said", agent: live, words: facts.lastMessage });
    }
    if (live === undefined || !live.learn(facts)) return;
    this.#keep(live);
    this.#changes.emit({ kind: "changed", agent: live });
  }

  /** The agent in this pane has said so by a hook. What it does is said to its readiness (`PaneReadiness.report`). */
  reported(server: TmuxServer, pane: PaneId, report: AgentReport): void {
    const served = this.#servers.get(server);
    if (served === undefined) return;
    if (this.inPane(server, pane) === undefined) this.#checkServer(served);
    const agent = this.inPane(server, pane);
    const { prompt, lastMessage, starts = false, ...session } = report;
    // An agent that runs another one as a tool is busy meanwhile: what that one says is not about this one.
    const isIts = agent?.sessionId === undefined || agent.sessionId === session.sessionId;
    if (!isIts && !(starts && agent.readiness?.state !== "busy")) return;
    const task = prompt === undefined ? undefined : this.#taskOf(prompt);
    const facts = { ...session, task, lastMessage: lastMessage?.slice(0, MAX_KEPT_CHARS) };
    if (agent === undefined) return served.announced.report(pane, facts, this.#options.clock.nowMs());
    if (task !== undefined) this.#events.emit({ kind: "prompted", agent, ...task });
    return this.note(agent, facts);
  }

  /** A delivery has given it this prompt. @param process that read it; undefined if the host does not know */
  took(server: TmuxServer, pane: PaneId, prompt: string, process: ProcessMark | undefined): void {
    const agent = this.inPane(server, pane);
    if (agent === undefined || (process !== undefined && process.pid !== agent.process.pid)) return;
    const task = this.#taskOf(prompt);
    if (agent.task?.text !== task.text) this.note(agent, { task });
  }

  /** Whoever gave it this prompt knows that it was taken. @param key the delivery's */
  taken(
    agent: RunningAgent,
    { by, key, ...task }: NonNullable<AgentFacts["task"]> & { readonly by: string; readonly key: string | undefined },
  ): void {
    this.note(agent, { task });
    this.#events.emit({ kind: "prompted", agent, ...task, by, key });
  }

  #taskOf(prompt: string): NonNullable<AgentFacts["task"]> {
    return { text: keptPrompt(prompt), sinceUnixMs: this.#options.nowUnixMs() };
  }

  /** @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT, NOT_FOUND once it has ended */
  rename(agent: RunningAgent, name: string, by = "api"): void {
    const live = this.#running.get(agent.id);
    if (live === undefined) throw new AppError("NOT_FOUND", `the agent ${JSON.stringify(agent.name)} has ended`);
    if (live.name === name) return;
    this.requireFreeName(name);
    const before = live.name;
    live.name = name;
    this.#keep(live);
    this.#events.emit({ kind: "renamed", agent: live, before, by });
    this.#changes.emit({ kind: "changed", agent: live });
  }

  /** @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT */
  requireFreeName(name: string): void {
    requireName(name);
    if (!this.#isTaken(name)) return;
    throw new AppError("ALREADY_EXISTS", `an agent is called ${JSON.stringify(name)} already; choose another name`, {
      details: { name },
    });
  }

  isFreeName(name: string): boolean {
    try {
      this.requireFreeName(name);
      return true;
    } catch {
      return false;
    }
  }

  /** Like `expect`, also for one that has already appeared there. @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT */
  introduce(server: TmuxServer, pane: PaneId, expected: Expected): () => void {
    const there = this.inPane(server, pane);
    if (there === undefined) return this.expect(server, pane, expected);
    if (expected.facts !== undefined) this.note(there, expected.facts);
    if (expected.name !== undefined) this.rename(there, expected.name);
    return () => undefined;
  }

  #isTaken(name: string): boolean {
    if (this.#named(name) !== undefined) return true;
    return [...this.#servers.values()].some(({ announced }) => announced.hasName(name));
  }

  /**
   * Whoever appears in this pane next has this name, which is taken from now on, and these facts. Returns what withdraws it.
   * @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT
   */
  expect(server: TmuxServer, pane: PaneId, expected: Expected): () => void {
    if (expected.name !== undefined) this.requireFreeName(expected.name);
    return this.#servers.get(server)?.announced.expect(pane, expected) ?? (() => undefined);
  }

  /** What ran, the newest first, whether it has ended or not. */
  remembered(): readonly KeptAgent[] {
    return this.#options.store.all();
  }

  /** Directories and branches are as they are now, as far as that is known within a moment. */
  async refresh(agents: Iterable<RunningAgent> = this.#running.values()): Promise<void> {
    const directories: string[] = [];
    for (const { id } of agents) {
      const live = this.#running.get(id);
      live?.look(this.#options.clock.nowMs());
      if (live?.cwd !== undefined) directories.push(live.cwd);
    }
    const fresh = this.#heads.refresh(directories);
    await within<void>(this.#options.clock, REFRESH_WITHIN_MS, undefined, (done) => {
      void fresh.finally(done);
    });
  }

  /** Judged now: the screen is captured. @throws AppError NOT_FOUND, CONNECTION_LOST */
  async probe(agent: RunningAgent): Promise<Readiness> {
    const { server, pane } = agent;
    using observed = this.#options.readiness.watch(server, pane, { unfollowed: true });
    return await observed.probe();
  }

  /**
   * Every server that the daemon serves, under its name in paths; the name given last counts. Returns the removal: its
   * agents are then out of sight, which is no end, and come back with the server.
   */
  addServer(name: string, server: TmuxServer): () => void {
    const served = this.#servers.get(server) ?? this.#serve(name, server);
    if (served.name !== name) {
      served.name = name;
      for (const agent of served.agents.values()) this.#keep(agent);
    }
    served.users += 1;
    let isRemoved = false;
    return () => {
      if (isRemoved) return;
      isRemoved = true;
      served.users -= 1;
      if (served.users === 0) this.#leave(served);
    };
  }

  #serve(name: string, server: TmuxServer): Served {
    const unsubscribe = server.subscribe((event) => {
      this.#checkServer(served);
      if (event.kind === "state" && event.state !== "ready") this.#serverLost(served);
    });
    const served: Served = {
      name,
      server,
      looks: new Map(),
      agents: new Map(),
      announced: new Announced(),
      users: 0,
      settled: undefined,
      unmet: [],
      unsubscribe,
    };
    this.#servers.set(server, served);
    this.#checkServer(served);
    this.#arm();
    return served;
  }

  #leave({ server, unsubscribe }: Served): void {
    unsubscribe();
    this.#servers.delete(server);
    for (const agent of this.#running.values()) {
      if (agent.server !== server) continue;
      agent.close();
      this.#running.delete(agent.id);
    }
  }

  /** Looks at every pane now. */
  check(): void {
    for (const served of this.#servers.values()) this.#checkServer(served);
    this.#checked.emit();
  }

  /** As in paths. */
  nameOf(server: TmuxServer): string | undefined {
    return this.#servers.get(server)?.name;
  }

  /** Of the server with this name in paths; undefined: there is none, or it has none. */
  socketOf(name: string): string | undefined {
    const served = [...this.#servers.values()].find((each) => each.name === name);
    return served?.server.status().socketPath;
  }

  /** Ends the checks. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    for (const served of this.#servers.values()) this.#leave(served);
    this.#options.store.close();
  }

  #arm(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#servers.size === 0) return;
    const { clock } = this.#options;
    this.#timer = clock.callAt(clock.nowMs() + CHECK_MS, () => {
      this.#timer = undefined;
      this.check();
      this.#checks += 1;
      if (this.#checks % LOOK_EVERY === 0) for (const agent of this.#running.values()) agent.look(clock.nowMs());
      this.#arm();
    });
  }

  #checkServer(served: Served): void {
    if (this.#isClosed) return;
    try {
      this.#look(served);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  #look(served: Served): void {
    const { server, looks } = served;
    const { identity } = server.status();
    if (!server.processes.reportsNow) return;
    // Without a server there are no panes; one that has outlived it for a moment (in a terminal of its own) ends all the same.
    const panes = identity === undefined ? [] : server.panes();
    const appeared: (() => void)[] = [];
    const seen = new Set<LiveAgent>();
    for (const pane of panes) {
      let look = looks.get(pane.id);
      if (look === undefined) looks.set(pane.id, (look = new PaneLook(server.processes, this.#kinds)));
      const found = pane.exit === undefined ? look.look(pane.pid) : undefined;
      if (found === undefined) continue;
      const known = this.#known(served, pane, found);
      if (known !== undefined) seen.add(known);
      else if (identity !== undefined) appeared.push(() => this.#appear(served, identity, pane, found));
    }
    const isThere = (pane: PaneId): boolean => server.findPane(pane) !== undefined;
    if (looks.size > panes.length) for (const pane of looks.keys()) if (!isThere(pane)) looks.delete(pane);
    served.announced.keep(isThere);
    // Before anybody appears: a successor gets the name that has become free.
    for (const agent of this.#running.values()) {
      if (agent.server !== server || seen.has(agent)) continue;
      if (hasLeftTerminal(agent.process, server.processes) && !this.#isLaunching(agent)) this.#end(agent);
    }
    for (const appear of appeared) appear();
    if (identity !== undefined && served.settled !== identity && server.status().state === "ready") {
      served.settled = identity;
      served.unmet = this.#options.store.unended(identity);
    }
    if (served.unmet.length > 0) this.#settle(served);
  }

  /** Those that do not run any more have ended while nobody looked; one that is stopped is not in front, and may go on. */
  #settle(served: Served): void {
    const { processes } = served.server;
    const unmet = served.unmet.filter(({ id }) => !this.#running.has(id) && !this.#ended.has(id));
    served.unmet = unmet.filter(({ process }) => !hasLeftTerminal(process, processes));
    for (const agent of unmet) {
      if (served.unmet.includes(agent)) continue;
      const { id, name, place } = agent;
      this.#options.store.end(id, this.#options.nowUnixMs());
      const { serverName, socketPath: socket } = place;
      this.#events.emit({ kind: "gone", id, name, serverName, socket });
    }
  }

  #known({ server, agents }: Served, pane: PaneInfo, { kind, process }: FoundAgent): LiveAgent | undefined {
    const before = agents.get(pane.id);
    if (before === undefined) return undefined;
    if (!isSameProcess(before.process, process)) {
      if (before.kind !== kind.agent) return undefined;
      const { pid, start } = before.process;
      const hasBecome = pid === process.pid && start === process.start;
      // However late it is seen: on a busy machine what was started within seconds needs longer to be in front.
      const isHandedOver = tookOver(before.process, process, server.processes);
      if (!hasBecome && !isHandedOver) return undefined;
      before.process = markOf(process);
      this.#keep(before);
    }
    this.#watch(before);
    return before;
  }

  #isYoung({ appearedMs }: LiveAgent): boolean {
    return this.#options.clock.nowMs() - appearedMs <= LAUNCHED_WITHIN_SEC * 1_000;
  }

  /** A launcher that has become another program on the way to the agent (`exec env … node …`), which has no agent's name. */
  #isLaunching(agent: LiveAgent): boolean {
    const { pid, start } = agent.process;
    const stat = agent.server.processes.statNow(pid);
    return this.#isYoung(agent) && stat?.start === start && stat.terminal !== 0 && !hasEnded(stat);
  }

  #appear(served: Served, identity: string, pane: PaneInfo, { kind, process }: FoundAgent): void {
    const mark = markOf(process);
    const kept = this.#stored((store) => store.find(identity, mark));
    const id = kept?.id ?? idOf(identity, mark);
    const running = this.#running.get(id);
    // It was stopped, and another one ran meanwhile.
    if (running !== undefined) return void served.agents.set(pane.id, running);
    const { expected, reported } = served.announced.take(pane.id, this.#options.clock.nowMs());
    const agent = new LiveAgent({
      id,
      name: expected?.name ?? this.#freeName(kept?.name ?? kind.agent.name),
      kind: kind.agent,
      served,
      pane: pane.id,
      process: mark,
      identity,
      heads: this.#heads,
      appearedMs: this.#options.clock.nowMs(),
      appearedUnixMs: kept?.appearedUnixMs ?? this.#options.nowUnixMs(),
    });
    if (kept !== undefined) agent.learn(kept.facts);
    if (expected?.facts !== undefined) agent.learn(expected.facts);
    if (reported !== undefined) agent.learn(reported);
    this.#running.set(id, agent);
    served.agents.set(pane.id, agent);
    this.#keep(agent);
    this.#watch(agent);
    void this.refresh([agent]);
    this.#changes.emit({ kind: "appeared", agent });
    const { task, lastMessage } = reported ?? {};
    if (task !== undefined) this.#events.emit({ kind: "prompted", agent, ...task });
    if (lastMessage !== undefined) this.#events.emit({ kind: "said", agent, words: lastMessage });
  }

  /** Its pane is observed from now on, if it is not yet. */
  #watch(agent: LiveAgent): void {
    if (agent.observed !== undefined) return;
    try {
      const observed = this.#options.readiness.watch(agent.server, agent.pane, { unfollowed: true });
      agent.observed = observed;
      observed.subscribe(({ state }) => {
        if (agent.endedUnixMs !== undefined) return;
        if (state === "dead" && hasLeftTerminal(agent.process, agent.server.processes)) this.#end(agent);
        else this.#changes.emit({ kind: "changed", agent });
      });
    } catch (error) {
      // Its pane has just closed, or tmux is being reconnected: the next check tries again.
      const { code } = toAppError(error);
      if (!isCutShort(error) && code !== "NOT_FOUND") this.#options.onError(error);
    }
  }

  #end(agent: LiveAgent): void {
    const unixMs = this.#options.nowUnixMs();
    agent.end(unixMs);
    this.#stored((store) => store.end(agent.id, unixMs));
    this.#running.delete(agent.id);
    const inPane = this.#servers.get(agent.server)?.agents;
    if (inPane?.get(agent.pane) === agent) {
      inPane.delete(agent.pane);
      for (const other of this.#running.values()) {
        if (other.server === agent.server && other.pane === agent.pane) inPane.set(agent.pane, other);
      }
    }
    this.#ended.set(agent.id, agent);
    for (const [oldest] of this.#ended) {
      if (this.#ended.size <= MAX_ENDED) break;
      this.#ended.delete(oldest);
    }
    this.#changes.emit({ kind: "ended", agent });
  }

  /** Its agents may have been seen to end before it. */
  #serverLost({ server }: Served): void {
    const since = this.#options.nowUnixMs() - WITH_SERVER_MS;
    for (const agent of this.#ended.values()) {
      const { server: its, endedUnixMs = -Infinity } = agent;
      if (its === server && endedUnixMs >= since) this.#events.emit({ kind: "serverEnded", agent });
    }
  }

  #keep(agent: LiveAgent): void {
    this.#stored((store) => store.keep(agent.identity, agent.kept()));
  }

  /** A disk that is full ends nothing but the record. */
  #stored<Result>(use: (store: AgentStore) => Result): Result | undefined {
    try {
      return this.#isClosed ? undefined : use(this.#options.store);
    } catch (error) {
      this.#options.onError(error);
      return undefined;
    }
  }

  #live({ id }: RunningAgent): LiveAgent | undefined {
    return this.#running.get(id) ?? this.#ended.get(id);
  }

  #freeName(kind: string): string {
    if (!this.#isTaken(kind)) return kind;
    for (let number = 2; ; number += 1) {
      const name = `${kind}-${number}`;
      if (!this.#isTaken(name)) return name;
    }
  }
}

/** Words that stand in the place of a name in paths. */
const RESERVED: ReadonlySet<string> = new Set(["resume"]);

/** @throws AppError INVALID_ARGUMENT */
function requireName(name: string): void {
  const isId = /^(?:[%@$]?\d+|agent-[0-9a-f]{12})$/.test(name);
  if (/^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}$/u.test(name) && !isId && !RESERVED.has(name)) return;
  throw invalidArgument(
    "an agent's name has letters, digits, `.`, `_` and `-`, at most 64, begins with a letter or digit, and looks like no id",
  );
}
