/**
 * Which process an agent is. A hook proves that the agent runs in its pane; whoever reads from the pane then is noted, and
 * answers are for that process alone (`AddresseeRequest`). Unknown where the system does not tell of processes.
 */
import { addresseeOf, hasEnded, type ProcessMark } from "../../../daemon/panes/foreground.ts";
import type { TmuxServer } from "../../../daemon/server/tmuxServer.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Log } from "../../../daemon/ops/log.ts";
import type { Agent } from "../agents/agent.ts";

export interface AgentProcessesOptions {
  readonly server: TmuxServer;
  /** Names of agents' programs. */
  readonly programs: ReadonlySet<string>;
  readonly log: Log;
}

export class AgentProcesses {
  readonly #options: AgentProcessesOptions;

  constructor(options: AgentProcessesOptions) {
    this.#options = options;
  }

  /** The agent has just shown that it lives in this pane. One that is known and lives stays the same. */
  async identify(agent: Agent, pane: PaneId): Promise<void> {
    const known = agent.process;
    if (known !== undefined && !hasEnded(known)) return;
    const { server, programs, log } = this.#options;
    try {
      const { processes } = await server.foreground(pane);
      const program = processes === undefined ? undefined : addresseeOf(processes, programs);
      const isSame = agent.process === known;
      if (isSame && program !== undefined && !program.isShell && agent.record.tmuxPaneId === pane) {
        agent.process = markOnly(program);
      }
    } catch (error) {
      log.debug("dashboard.agent.unidentified", { agent: agent.record.id, code: toAppError(error).code });
    }
  }

  /** Was known, and is no more. */
  isGone({ process }: Agent): boolean {
    return process !== undefined && hasEnded(process);
  }
}

const markOnly = ({ pid, start, executable }: ProcessMark): ProcessMark => ({ pid, start, executable });
