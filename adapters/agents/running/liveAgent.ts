/**
 * One agent that runs, as the directory has it: a process, what is known of it, and where it is. Also what tells one process
 * of an agent from another.
 */
import { createHash } from "node:crypto";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import { TICKS_PER_SEC } from "../../../daemon/host/startClock.ts";
import { LAUNCHED_WITHIN_SEC } from "../../../daemon/panes/foreground.ts";
import type { PaneReadiness, Readiness } from "../../../daemon/readiness/readiness.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../catalogue.ts";
import { given } from "../jsonFields.ts";
import type { KeptAgent } from "./agentStore.ts";
import type { GitHeads } from "./gitHeads.ts";
import type { AgentFacts, RunningAgent } from "./runningAgent.ts";

/** How old an agent's directory may be. */
const LOOKED_MS = 1_000;
/** Parents that are looked at to find out who launched a process. */
const MAX_PARENTS = 16;

interface LiveAgentOptions extends Pick<RunningAgent, "id" | "name" | "kind" | "pane" | "process"> {
  readonly served: { readonly name: string; readonly server: TmuxServer };
  /** Of its server. */
  readonly identity: string;
  readonly heads: GitHeads;
  /** Of the clock. */
  readonly appearedMs: number;
  readonly appearedUnixMs: number;
}

export class LiveAgent implements RunningAgent {
  declare readonly sessionId: AgentFacts["sessionId"];
  declare readonly transcriptPath: AgentFacts["transcriptPath"];
  declare readonly task: AgentFacts["task"];
  declare readonly lastMessage: AgentFacts["lastMessage"];
  declare readonly launch: AgentFacts["launch"];
  declare readonly worktree: AgentFacts["worktree"];
  declare readonly leader: AgentFacts["leader"];
  readonly id: string;
  name: string;
  readonly kind: Agent;
  readonly pane: PaneId;
  process: ProcessMark;
  readonly identity: string;
  readonly appearedMs: number;
  observed: PaneReadiness | undefined;
  readonly #options: LiveAgentOptions;
  #facts: AgentFacts = {};
  #cwd: string | undefined;
  #lookedMs = -Infinity;
  #last: Readiness | undefined;
  #endedUnixMs: number | undefined;

  constructor(options: LiveAgentOptions) {
    const { id, name, kind, pane, process, identity, appearedMs } = options;
    this.id = id;
    this.name = name;
    this.kind = kind;
    this.pane = pane;
    this.process = process;
    this.identity = identity;
    this.appearedMs = appearedMs;
    this.#options = options;
  }

  get serverName(): string {
    return this.#options.served.name;
  }
  get server(): TmuxServer {
    return this.#options.served.server;
  }
  get cwd(): string | undefined {
    return this.#cwd;
  }
  get branch(): string | undefined {
    return this.#cwd === undefined ? undefined : this.#options.heads.at(this.#cwd);
  }
  get readiness(): Readiness | undefined {
    return this.observed?.current ?? this.#last;
  }
  get endedUnixMs(): number | undefined {
    return this.#endedUnixMs;
  }
  /** True: something is another than before. */
  learn(facts: AgentFacts): boolean {
    const next = { ...this.#facts, ...given(facts) };
    if (JSON.stringify(next) === JSON.stringify(this.#facts)) return false;
    this.#facts = next;
    Object.assign(this, next);
    return true;
  }

  /** Asks the host where it is, unless that was just done. @param nowMs of the clock */
  look(nowMs: number): void {
    if (nowMs - this.#lookedMs < LOOKED_MS) return;
    this.#lookedMs = nowMs;
    this.#cwd = this.server.processes.cwdNow(this.process.pid) ?? this.#cwd;
  }

  kept(): KeptAgent {
    return {
      id: this.id,
      kind: this.kind.name,
      name: this.name,
      process: this.process,
      facts: this.#facts,
      place: { serverName: this.serverName, socketPath: this.server.status().socketPath },
      appearedUnixMs: this.#options.appearedUnixMs,
      endedUnixMs: this.#endedUnixMs,
    };
  }

  end(unixMs: number): void {
    this.#endedUnixMs = unixMs;
    this.close();
  }

  close(): void {
    this.#last = this.observed?.current ?? this.#last;
    this.observed?.[Symbol.dispose]();
    this.observed = undefined;
  }
}

/** Its launcher was seen first: what it has become, or has started, within seconds. */
export function tookOver(launcher: ProcessMark, process: ProcessMark, processes: HostProcesses): boolean {
  if (Number(process.start) - Number(launcher.start) > LAUNCHED_WITHIN_SEC * TICKS_PER_SEC) return false;
  let { pid } = process;
  for (let parents = 0; parents < MAX_PARENTS; parents += 1) {
    if (pid === launcher.pid) return processes.statNow(pid)?.start === launcher.start;
    const stat = processes.statNow(pid);
    if (stat === undefined || stat.parent <= 1) return false;
    pid = stat.parent;
  }
  return false;
}

const ID_DIGITS = 12;

/** `agent-3f9c21ab04de`. */
export function idOf(identity: string, { pid, start, executable }: ProcessMark): string {
  const hash = createHash("sha256").update(JSON.stringify([identity, pid, start, executable ?? null]));
  return `agent-${hash.digest("hex").slice(0, ID_DIGITS)}`;
}
