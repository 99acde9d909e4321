/**
 * Agents that end without a word: nothing is printed, no hook comes, and to tmux the pane is as it was (`sh -c 'agent; …'`,
 * a respawn). All of them are asked for together, once a second while there are any whose process is known: two reads of
 * `/proc` each, no command and no process. Where the system does not tell of processes, none is known.
 */
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { Agent } from "../agents/agent.ts";
import { SILENT_END_PROBE_MS } from "../dashboardLimits.ts";

interface SilentEndsOptions {
  readonly clock: Clock;
  readonly agents: () => readonly Agent[];
  readonly isGone: (agent: Agent) => boolean;
  /** Once per process. */
  readonly onGone: (agent: Agent) => void;
}

export class SilentEnds {
  readonly #options: SilentEndsOptions;
  readonly #reported = new WeakSet<ProcessMark>();
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: SilentEndsOptions) {
    this.#options = options;
  }

  /** A process may be known by now. */
  watch(): void {
    const { clock, agents } = this.#options;
    if (this.#isStopped || this.#timer !== undefined || !agents().some((agent) => this.#liveOf(agent) !== undefined))
      return;
    this.#timer = clock.callAt(clock.nowMs() + SILENT_END_PROBE_MS, () => this.#probe());
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
  }

  #probe(): void {
    this.#timer = undefined;
    const { agents, isGone, onGone } = this.#options;
    for (const agent of agents()) {
      const process = this.#liveOf(agent);
      if (process === undefined || !isGone(agent)) continue;
      this.#reported.add(process);
      onGone(agent);
    }
    this.watch();
  }

  /** Its process, unless nothing is known of one, or its end has been reported. */
  #liveOf({ record: { process } }: Agent): ProcessMark | undefined {
    return process === undefined || this.#reported.has(process) ? undefined : process;
  }
}
