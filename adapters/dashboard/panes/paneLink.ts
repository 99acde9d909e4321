/** One agent's tie to a pane: what is watched there, and its availability, which is measured once at a time. */
import type { PaneReadiness } from "../../../daemon/readiness/readiness.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { Agent } from "../agents/agent.ts";

export class PaneLink {
  readonly agent: Agent;
  readonly pane: PaneId;
  watch: PaneReadiness | undefined;
  unsubscribe: (() => void) | undefined;
  retries = 0;
  retry: Timer | undefined;
  #isMeasuring = false;
  #measureAgain = false;

  constructor(agent: Agent, pane: PaneId) {
    this.agent = agent;
    this.pane = pane;
  }

  /**
   * Measures, and again when asked to meanwhile.
   * @param once false: no more for now
   */
  measure(once: () => Promise<boolean>): void {
    this.#measureAgain = true;
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    void this.#untilSettled(once).finally(() => {
      this.#isMeasuring = false;
    });
  }

  close(): void {
    this.retry?.cancel();
    this.unsubscribe?.();
    this.watch?.[Symbol.dispose]();
  }

  async #untilSettled(once: () => Promise<boolean>): Promise<void> {
    while (this.#measureAgain) {
      this.#measureAgain = false;
      if (!(await once())) return;
    }
  }
}
