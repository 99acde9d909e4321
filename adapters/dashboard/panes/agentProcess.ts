/**
 * Which process an agent is. A hook proves that the agent runs in its pane; the process that reads from the pane then is
 * kept in the agent's record, and answers are for it alone (`AddresseeRequest`), after a restart of the daemon too.
 * Unknown where the system does not report processes.
 */
import { addresseeOf, hasLeftTerminal, isAtTerminal, wasThereBefore } from "../../../daemon/panes/foreground.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Agent } from "../agents/agent.ts";
import type { AgentBook } from "../agents/agentBook.ts";

interface AgentProcessesOptions {
  readonly server: TmuxServer;
  readonly book: AgentBook;
  /** Names of agents' programs. */
  readonly programs: ReadonlySet<string>;
  readonly log: Log;
  /** It has reported, and another program has taken its pane since. */
  readonly onGone: (agent: Agent) => void;
  /** The search is over, with or without a result. */
  readonly onIdentified: (agent: Agent) => void;
}

/** A pane whose program has just ended, or is being replaced, is asked again at once: another one is there by then. */
const MAX_TRIES = 3;

export class AgentProcesses {
  readonly #options: AgentProcessesOptions;
  readonly #underWay = new Map<Agent, Promise<void>>();
  /** Agents that reported a pane which is not listed yet, and when, in seconds since boot. */
  readonly #waiting = new WeakMap<Agent, { readonly pane: PaneId; readonly reportedSec: number }>();

  constructor(options: AgentProcessesOptions) {
    this.#options = options;
  }

  /**
   * The agent has shown that it lives in this pane. One that is known and can be typed to stays the same.
   * @param reportedSec when it did, in seconds since boot
   */
  identify(agent: Agent, pane: PaneId, reportedSec: number): void {
    if (isReachable(agent, this.#options.server.processes) || this.#underWay.has(agent)) return;
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
    const { server, book, programs, onGone } = this.#options;
    const known = agent.record.process;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { processes } = await server.foreground(pane);
      const isSame = agent.record.process === known && agent.record.tmuxPaneId === pane;
      if (!isSame || book.active(agent.record.id) !== agent || processes === undefined) return;
      const program = addresseeOf(processes, programs);
      if (program !== undefined && !wasThereBefore(program, reportedSec)) {
        // The program that reported was there earlier: the pane is another's by now.
        onGone(agent);
        return;
      }
      if (program !== undefined && !program.isShell) {
        book.update(agent, { process: markOnly(program) });
        return;
      }
    }
  }

  /** Was known and has left. False during a search: an agent that has just reported may be another process. */
  isGone(agent: Agent): boolean {
    const { process } = agent.record;
    return (
      process !== undefined && !this.#underWay.has(agent) && hasLeftTerminal(process, this.#options.server.processes)
    );
  }
}

/** Its process is known and has its terminal now. */
export const isReachable = ({ record: { process } }: Agent, processes: HostProcesses): boolean =>
  process !== undefined && isAtTerminal(process, processes);

const markOnly = ({ pid, start, executable }: ProcessMark): ProcessMark => ({ pid, start, executable });
