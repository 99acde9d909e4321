/** The open parts of a running daemon, and the order in which they are closed. */
import type { Log } from "../../daemon/ops/log.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { within } from "../../daemon/time/within.ts";

type Close = () => Promise<void> | void;

/** How long active requests may finish at a stop: less than the listeners' own grace period. */
const FINISH_WITHIN_MS = 600;

/**
 * The open parts, in closing order. `surfaces` take requests: together they stop accepting, end streams and waits, and close
 * once all active requests are settled. Requests that still wait for tmux are settled by closing `servers`; the surfaces use
 * the rest of their grace period to write those responses. `rest` holds what all of them write to until then (stores), closed
 * one by one in reverse order of opening.
 */
export class OpenParts {
  readonly #log: Log;
  readonly surfaces: Close[] = [];
  readonly servers: Close[] = [];
  readonly rest: Close[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes over another's parts, to be closed with these. */
  take({ surfaces, servers, rest }: OpenParts): void {
    this.surfaces.push(...surfaces);
    this.servers.push(...servers);
    this.rest.push(...rest);
  }

  async close(): Promise<void> {
    const settled = this.#all(this.surfaces);
    await within<void>(systemClock, FINISH_WITHIN_MS, undefined, (finish) => void settled.then(() => finish()));
    await this.#all(this.servers);
    await settled;
    for (const close of this.rest.toReversed()) await this.#all([close]);
  }

  async #all(closes: readonly Close[]): Promise<void> {
    const ended = await Promise.allSettled(closes.map(async (close) => close()));
    for (const result of ended) {
      if (result.status === "rejected") this.#log.error("daemon.stop.failed", { error: result.reason as unknown });
    }
  }
}
