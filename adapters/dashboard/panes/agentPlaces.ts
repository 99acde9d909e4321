/**
 * Which process in which pane an agent is. A pane's id means something on one server only, so it counts with the server that
 * it was reported on. A hook proves that the agent runs in its pane, and so does a question on its screen where it has no
 * hooks; the process that reads from the pane then is kept in the agent's record, and answers are for it alone
 * (`AddresseeRequest`), after a restart of the daemon too. Unknown where the system does not report processes.
 */
import {
  addresseeOf,
  hasLeftTerminal,
  isAtTerminal,
  markOf,
  wasThereBefore,
} from "../../../daemon/panes/foreground.ts";
import { startClock } from "../../../daemon/host/startClock.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import type { SessionInfo } from "../../../daemon/tmux/inventory.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import { type Agent, openTask } from "../agents/agent.ts";
import { type AgentBook, isSameServer } from "../agents/agentBook.ts";
import type { AgentDesk } from "../agents/agentDesk.ts";
import { LISTED_PROBES_MS, MAX_UNLISTED_PANES } from "../dashboardLimits.ts";
import { isFound } from "../store/records.ts";

export interface AgentPlacesOptions {
  readonly server: TmuxServer;
  readonly book: AgentBook;
  readonly desk: AgentDesk;
  readonly running: Pick<AgentDirectory, "onCheck">;
  /** Names of agents' programs. */
  readonly programs: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
  /** Its process has ended without a word; its task is over already. */
  readonly onGone: (agent: Agent) => void;
  /** The search is over, with or without a result. */
  readonly onIdentified: (agent: Agent) => void;
}

/** Where an agent says that it is. */
export interface ReportedPane {
  readonly pane: PaneId | undefined;
  readonly tmuxSession: string | undefined;
  /** The process of its tmux server. */
  readonly tmuxPid: number | undefined;
}

/** A pane whose program has just ended, or is being replaced, is asked again at once: another one is there by then. */
const MAX_TRIES = 3;

export class AgentPlaces {
  /** In seconds since boot. */
  readonly uptimeSec: () => number;
  readonly #options: AgentPlacesOptions;
  /** Whose end without a word has been reported. */
  readonly #reported = new WeakSet<ProcessMark>();
  readonly #unsubscribe: () => void;
  readonly #underWay = new Map<Agent, Promise<void>>();
  /** Agents that have ended, some before anybody knew which process they were, until they show that they live. */
  readonly #over = new WeakSet<Agent>();
  readonly #neverListed = new Set<PaneId>();

  constructor(options: AgentPlacesOptions) {
    this.#options = options;
    this.uptimeSec = startClock(options.server.processes);
    this.#unsubscribe = options.running.onCheck(() => this.#check());
  }

  close(): void {
    this.#unsubscribe();
  }

  /** Of the server that is there, or was last. */
  get #identity(): string | undefined {
    return this.#options.server.status().identity;
  }

  /** The agent's pane, if it is one of this server; it may have gone. */
  paneHere({ record: { tmuxPaneId, paneServer } }: Agent): PaneId | undefined {
    return isSameServer(paneServer, this.#identity) ? tmuxPaneId : undefined;
  }

  /** For typing: the pane when it is there, undefined when the agent has none that lives on this server. */
  livePane(agent: Agent): PaneId | undefined {
    const pane = this.paneHere(agent);
    const info = pane === undefined ? undefined : this.#options.server.findPane(pane);
    return info === undefined || info.exit !== undefined ? undefined : pane;
  }

  inPane(pane: PaneId): Agent | undefined {
    return this.#options.book.inPane(pane, this.#identity);
  }

  /** Whether a pane that a hook names is one of this server's. One that is not listed may be in a moment, or never. */
  placeOf({ pane, tmuxSession, tmuxPid }: ReportedPane): "ours" | "elsewhere" | "unknown" {
    const pid = this.#serverPid();
    if (pane === undefined || (tmuxPid !== undefined && pid !== undefined && pid !== tmuxPid)) return "elsewhere";
    if (this.#options.server.findPane(pane) === undefined) return "unknown";
    const isThere = tmuxSession === undefined || this.#sessionsOf(pane).some(({ name }) => name === tmuxSession);
    return isThere ? "ours" : "elsewhere";
  }

  /**
   * A program may name its pane before tmux has listed it: whether it is listed now and was not before. The listing is probed
   * in memory a few times, and only for a hook that names our server's process; a pane that was never listed is not waited
   * for again.
   */
  async comes({ pane, tmuxPid }: ReportedPane): Promise<boolean> {
    const { server, clock } = this.#options;
    if (pane === undefined || tmuxPid === undefined || tmuxPid !== this.#serverPid()) return false;
    if (server.findPane(pane) !== undefined || this.#neverListed.has(pane)) return false;
    for (const waitMs of LISTED_PROBES_MS) {
      await sleep(clock, waitMs);
      if (server.findPane(pane) !== undefined) return true;
    }
    if (this.#neverListed.size >= MAX_UNLISTED_PANES) this.#neverListed.clear();
    this.#neverListed.add(pane);
    return false;
  }

  /**
   * An agent that another one has started inherits its pane, and reads nothing of what is typed there. One that is known by
   * its process alone, and is not at work, may be the agent itself.
   */
  isBehindAnother(agent: Agent, pane: PaneId): boolean {
    const holder = this.inPane(pane);
    if (holder === undefined || holder === agent || !this.isReachable(holder)) return false;
    return !isFound(holder.record) || openTask(holder) !== undefined;
  }

  /** Notes where the agent is, once those who were there have left. Returns whether that is another pane. */
  move(agent: Agent, pane: PaneId, tmuxSession: string | undefined, leave: (other: Agent) => void): boolean {
    const { record } = agent;
    const isSame = record.tmuxPaneId === pane && record.paneServer === this.#identity;
    // The first of them, when the pane's window is in several.
    const session = tmuxSession ?? this.#sessionsOf(pane)[0]?.name ?? record.tmuxSession;
    if (isSame && session === record.tmuxSession) return false;
    const { book } = this.#options;
    for (const other of book.all()) if (other !== agent && this.paneHere(other) === pane) leave(other);
    // No process goes from one pane to another.
    const process = this.paneHere(agent) === pane ? record.process : undefined;
    book.update(agent, { tmuxPaneId: pane, paneServer: this.#identity, tmuxSession: session, process });
    return !isSame;
  }

  /** Its process is known and has its terminal now. */
  isReachable({ record: { process } }: Agent): boolean {
    return process !== undefined && isAtTerminal(process, this.#options.server.processes);
  }

  /**
   * The agent has shown that it lives in this pane, which may not be listed yet: then nobody is looked for. One that is known
   * and can be typed to stays the same.
   * @param reportedSec when it did, in seconds since boot
   */
  identify(agent: Agent, pane: PaneId, reportedSec: number): void {
    if (this.isReachable(agent) || this.#underWay.has(agent)) return;
    const { server, log, onIdentified } = this.#options;
    this.#over.delete(agent);
    if (server.findPane(pane) === undefined) return;
    const done = this.#find(agent, pane, reportedSec)
      .catch((error: unknown) => {
        log.debug("dashboard.agent.unidentified", { agent: agent.record.id, code: toAppError(error).code });
      })
      .finally(() => {
        this.#underWay.delete(agent);
        onIdentified(agent);
      });
    this.#underWay.set(agent, done);
  }

  /** Once its process is known, or known not to be. */
  async identified(agent: Agent): Promise<void> {
    await this.#underWay.get(agent);
  }

  /** Its screen shows a question. Without hooks, an agent is the process that asks there. */
  asked(agent: Agent): void {
    const pane = this.livePane(agent);
    if (agent.hasHooks || pane === undefined) return;
    const isKnown = agent.record.process !== undefined || this.#over.has(agent);
    if (isKnown && !this.isReachable(agent)) agent.othersTurnId = agent.question?.turn.id;
    this.identify(agent, pane, this.uptimeSec());
  }

  /** As far as the system tells. */
  hasEnded(agent: Agent): boolean {
    return this.#over.has(agent) || this.#isGone(agent);
  }

  /** Whether it has gone. */
  endIfGone(agent: Agent): boolean {
    const isGone = this.#isGone(agent);
    if (isGone) this.#ended(agent);
    return isGone;
  }

  async #find(agent: Agent, pane: PaneId, reportedSec: number): Promise<void> {
    const { server, book, programs } = this.#options;
    const known = agent.record.process;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { processes } = await server.foreground(pane);
      const isSame = agent.record.process === known && agent.record.tmuxPaneId === pane;
      if (!isSame || book.active(agent.record.id) !== agent || processes === undefined) return;
      const program = addresseeOf(processes, programs);
      if (program === undefined) continue;
      // The program that reported was there earlier: the pane is another's by now.
      if (!wasThereBefore(program, reportedSec)) return this.#ended(agent);
      if (!program.isShell) return book.update(agent, { process: markOf(program) });
    }
  }

  /** Was known and has left. False during a search: an agent that has just reported may be another process. */
  #isGone(agent: Agent): boolean {
    const { process } = agent.record;
    const { processes } = this.#options.server;
    return process !== undefined && !this.#underWay.has(agent) && hasLeftTerminal(process, processes);
  }

  /**
   * Some end without a word: nothing is printed, no hook comes, and to tmux the pane is as it was (`sh -c 'agent; …'`, a
   * respawn).
   */
  #check(): void {
    for (const agent of this.#options.book.all()) {
      const { process } = agent.record;
      if (process === undefined || this.#reported.has(process) || !this.#isGone(agent)) continue;
      this.#reported.add(process);
      this.#ended(agent);
      this.#options.onGone(agent);
    }
  }

  #ended(agent: Agent): void {
    this.#over.add(agent);
    // One that is known by its process alone ends with it: first without its task it would seem to wait for another.
    if (openTask(agent) !== undefined && !isFound(agent.record)) this.#options.desk.completed(agent, "process_ended");
  }

  #serverPid(): number | undefined {
    const pid = /^\d+/.exec(this.#identity ?? "")?.[0];
    return pid === undefined ? undefined : Number(pid);
  }

  #sessionsOf(pane: PaneId): readonly SessionInfo[] {
    const { server } = this.#options;
    const window = server.findPane(pane)?.window;
    return window === undefined ? [] : server.sessions().filter(({ windows }) => windows.includes(window));
  }
}
