/**
 * Which process an agent is. A hook proves that the agent runs in its pane, and so does a question on its screen where it
 * has no hooks; the process that reads from the pane then is kept in the agent's record, and answers are for it alone
 * (`AddresseeRequest`), after a restart of the daemon too. Unknown where the system does not report processes.
 */
import {
  addresseeOf,
  hasLeftTerminal,
  isAtTerminal,
  markOf,
  wasThereBefore,
} from "../../../daemon/panes/foreground.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import { startClock } from "../../../daemon/host/startClock.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { AgentDirectory } from "../../agents/running/agentDirectory.ts";
import { type Agent, openTask } from "../agents/agent.ts";
import type { AgentBook } from "../agents/agentBook.ts";
import type { AgentDesk } from "../agents/agentDesk.ts";

export interface AgentProcessesOptions {
  readonly server: TmuxServer;
  readonly book: AgentBook;
  readonly desk: AgentDesk;
  readonly running: Pick<AgentDirectory, "onCheck">;
  /** Names of agents' programs. */
  readonly programs: ReadonlySet<string>;
  readonly log: Log;
  /** Its process has ended without a word; its task is over already. */
  readonly onGone: (agent: Agent) => void;
  /** The search is over, with or without a result. */
  readonly onIdentified: (agent: Agent) => void;
}

/** A pane whose program has just ended, or is being replaced, is asked again at once: another one is there by then. */
const MAX_TRIES = 3;

export class AgentProcesses {
  /** In seconds since boot. */
  readonly uptimeSec: () => number;
  readonly #options: AgentProcessesOptions;
  /** Whose end without a word has been reported. */
  readonly #reported = new WeakSet<ProcessMark>();
  readonly #unsubscribe: () => void;
  readonly #underWay = new Map<Agent, Promise<void>>();
  /** Agents that have ended, some before anybody knew which process they were, until they show that they live. */
  readonly #over = new WeakSet<Agent>();
  /** Agents that reported a pane which is not listed yet, and when, in seconds since boot. */
  readonly #waiting = new WeakMap<Agent, { readonly pane: PaneId; readonly reportedSec: number }>();

  constructor(options: AgentProcessesOptions) {
    this.#options = options;
    this.uptimeSec = startClock(options.server.processes);
    this.#unsubscribe = options.running.onCheck(() => this.#check());
  }

  /**
   * The agent has shown that it lives in this pane. One that is known and can be typed to stays the same.
   * @param reportedSec when it did, in seconds since boot
   */
  identify(agent: Agent, pane: PaneId, reportedSec: number): void {
    if (isReachable(agent, this.#options.server.processes) || this.#underWay.has(agent)) return;
    this.#over.delete(agent);
    if (this.#options.server.findPane(pane) === undefined) {
      this.#waiting.set(agent, { pane, reportedSec });
      return;
    }
    this.#waiting.delete(agent);
    const done = this.#find(agent, pane, reportedSec)
      .catch((error: unknown) => {
        const { log } = this.#options;
        log.debug("dashboard.agent.unidentified", { agent: agent.record.id, code: toAppError(error).code });
      })
      .finally(() => {
        this.#underWay.delete(agent);
        this.#options.onIdentified(agent);
      });
    this.#underWay.set(agent, done);
  }

  /** Its pane is listed now. */
  listed(agent: Agent): void {
    const reported = this.#waiting.get(agent);
    if (reported !== undefined && reported.pane === agent.record.tmuxPaneId)
      this.identify(agent, reported.pane, reported.reportedSec);
  }

  /** Once it is known, or known not to be. */
  async identified(agent: Agent): Promise<void> {
    await this.#underWay.get(agent);
  }

  async #find(agent: Agent, pane: PaneId, reportedSec: number): Promise<void> {
    const { server, book, programs } = this.#options;
    const known = agent.record.process;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { processes } = await server.foreground(pane);
      const isSame = agent.record.process === known && agent.record.tmuxPaneId === pane;
      if (!isSame || book.active(agent.record.id) !== agent || processes === undefined) return;
      const program = addresseeOf(processes, programs);
      if (program !== undefined && !wasThereBefore(program, reportedSec)) {
        // The program that reported was there earlier: the pane is another's by now.
        this.#ended(agent);
        return;
      }
      if (program !== undefined && !program.isShell) {
        book.update(agent, { process: markOf(program) });
        return;
      }
    }
  }

  /** Its screen shows a question. Without hooks, an agent is the process that asks there. */
  asked(agent: Agent, pane: PaneId | undefined): void {
    if (agent.hasHooks || pane === undefined) return;
    const isKnown = agent.record.process !== undefined || this.#over.has(agent);
    if (isKnown && !isReachable(agent, this.#options.server.processes)) agent.othersTurnId = agent.question?.turnId;
    this.identify(agent, pane, this.uptimeSec());
  }

  /** Was known and has left. False during a search: an agent that has just reported may be another process. */
  isGone(agent: Agent): boolean {
    const { process } = agent.record;
    return (
      process !== undefined && !this.#underWay.has(agent) && hasLeftTerminal(process, this.#options.server.processes)
    );
  }

  /** As far as the system tells. */
  hasEnded(agent: Agent): boolean {
    return this.#over.has(agent) || this.isGone(agent);
  }

  endIfGone(agent: Agent): void {
    if (this.isGone(agent)) this.#ended(agent);
  }

  close(): void {
    this.#unsubscribe();
  }

  /**
   * Some end without a word: nothing is printed, no hook comes, and to tmux the pane is as it was (`sh -c 'agent; …'`, a
   * respawn).
   */
  #check(): void {
    for (const agent of this.#options.book.all()) {
      const { process } = agent.record;
      if (process === undefined || this.#reported.has(process) || !this.isGone(agent)) continue;
      this.#reported.add(process);
      this.#ended(agent);
      this.#options.onGone(agent);
    }
  }

  #ended(agent: Agent): void {
    this.#over.add(agent);
    if (openTask(agent) !== undefined) this.#options.desk.completed(agent, "process_ended");
  }
}

/** Its process is known and has its terminal now. */
export const isReachable = ({ record: { process } }: Agent, processes: HostProcesses): boolean =>
  process !== undefined && isAtTerminal(process, processes);
