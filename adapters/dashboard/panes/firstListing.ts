/**
 * The time from the start until the tmux server has been listed. After a crash it can be seconds, because tmux is busy with
 * the clients that it has lost. Until then it is unknown which server a pane belongs to: what depends on that is deferred,
 * and a caller that can wait does so here, within a bound.
 */
import type { Log } from "../../../daemon/ops/log.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { Agent } from "../agents/agent.ts";
import { RECONNECT_WITHIN_MS } from "../dashboardLimits.ts";

interface FirstListingOptions {
  readonly listed: Promise<void> | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

export class FirstListing {
  readonly #options: FirstListingOptions;
  readonly #over: Promise<void>;
  readonly #later = new Map<Agent, () => void>();
  #isOver = false;

  /** @param options.listed never rejects; undefined when it is over already. */
  constructor(options: FirstListingOptions) {
    this.#options = options;
    this.#isOver = options.listed === undefined;
    this.#over = Promise.resolve(options.listed).then(() => this.#end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Runs `act` then, or now if it is over; of several for one agent only the last. */
  after(agent: Agent, act: () => void): void {
    if (this.#isOver) act();
    else this.#later.set(agent, act);
  }

  /** Resolves when it is over, or takes too long. */
  async wait(): Promise<void> {
    if (this.#isOver) return;
    await within<void>(this.#options.clock, RECONNECT_WITHIN_MS, undefined, (end) => void this.#over.then(end));
  }

  /** Drops what was deferred. */
  close(): void {
    this.#later.clear();
  }

  #end(): void {
    this.#isOver = true;
    for (const act of this.#later.values()) {
      try {
        act();
      } catch (error) {
        this.#options.log.error("dashboard.deferred.failed", { error });
      }
    }
    this.#later.clear();
  }
}
