/** What a running daemon has open, and the order in which it ends. */
import type { Log } from "../../daemon/ops/log.ts";
import { systemClock, type Timer } from "../../daemon/time/clock.ts";

type Close = () => Promise<void> | void;

/** A stop lets requests under way finish by themselves for this long: less than the listeners' own grace. */
const FINISH_WITHIN_MS = 600;

/**
 * What is open, by the order in which it ends. `surfaces` take requests: all at once they take no more, end streams and
 * waits, and close once everything under way is settled. What still waits for tmux then is settled by the end of
 * `servers`, and the surfaces have the rest of their grace to write that. `rest` is what all of them write to until then
 * (stores): one after the other, the first one opened last.
 */
export class OpenParts {
  readonly #log: Log;
  readonly surfaces: Close[] = [];
  readonly servers: Close[] = [];
  readonly rest: Close[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  /** What another has open ends with this one. */
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

/** Resolves with `work`, or when the time is over. */
async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: Timer | undefined;
  const isOver = new Promise<void>((resolve) => {
    timer = systemClock.callAt(systemClock.nowMs() + ms, resolve);
  });
  await Promise.race([work, isOver]);
  timer?.cancel();
}
