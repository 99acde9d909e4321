/** One agent's tie to a pane: what is watched there, and its availability, which is measured once at a time. */
import type { PaneReadiness } from "../../../daemon/readiness/readiness.ts";
import { AskOnce } from "../../../daemon/time/askOnce.ts";
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
  readonly #measuring: AskOnce;

  /** @param measure never rejects */
  constructor(agent: Agent, pane: PaneId, measure: (link: PaneLink) => Promise<void>) {
    this.agent = agent;
    this.pane = pane;
    this.#measuring = new AskOnce(() => measure(this));
  }

  /** Measures, and once more when called meanwhile. */
  measure(): void {
    this.#measuring.soon();
  }

  close(): void {
    this.retry?.cancel();
    this.unsubscribe?.();
    this.watch?.[Symbol.dispose]();
  }
}
