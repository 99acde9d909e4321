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
  #once: () => Promise<unknown> = async () => undefined;
  readonly #measuring = new AskOnce(async () => void (await this.#once()));

  constructor(agent: Agent, pane: PaneId) {
    this.agent = agent;
    this.pane = pane;
  }

  /** Measures, and once more when asked to meanwhile. @param once never rejects */
  measure(once: () => Promise<unknown>): void {
    this.#once = once;
    this.#measuring.soon();
  }

  close(): void {
    this.retry?.cancel();
    this.unsubscribe?.();
    this.watch?.[Symbol.dispose]();
  }
}
