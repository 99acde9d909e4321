/** What a running daemon has open, and the order in which it closes. */
import type { Log } from "../../daemon/ops/log.ts";
import { systemClock, type Timer } from "../../daemon/time/clock.ts";

type Close = () => Promise<void> | void;

/** At a stop, requests under way may finish for this long: less than the listeners' own grace. */
const FINISH_WITHIN_MS = 600;

/**
 * What is open, in closing order. `surfaces` take requests: together they stop accepting, end streams and waits, and close
 * once everything under way is settled. Requests that still wait for tmux are settled by closing `servers`, and the
 * surfaces have the rest of their grace to write the responses. `rest` is what all of them write to until then (stores),
 * closed one by one in reverse order of opening.
 */
export class OpenParts {
  readonly #log: Log;
  readonly surfaces: Close[] = [];
  readonly servers: Close[] = [];
  readonly rest: Close[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** What the other has open closes with this one. */
  take({ surfaces, servers, rest }: OpenParts): void {
    this.surfaces.push(...surfaces);
    this.servers.push(...servers);
    this.rest.push(...rest);
  }

  async close(): Promise<void> {
    const settled = this.#all(this.surfaces);
    await within(FINISH_WITHIN_MS, settled);
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

/** Resolves with `work`, or when the time is up. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const isOver = new Promise<void>((resolve) => {
    timer = systemClock.callAt(systemClock.nowMs() + ms, resolve);
  });
  await Promise.race([work, isOver]);
  timer?.cancel();
}
