/**
 * One delivery at a time per pane, in the order in which they were asked for. Whoever waits may leave; whoever is at work
 * keeps the pane until it is done.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import { MAX_DELIVERIES_WAITING } from "./deliveryLimits.ts";

interface Waiting {
  readonly begin: () => void;
}

export class PaneTurns {
  /** Panes at work, each with those who wait. */
  readonly #busy = new WeakMap<TmuxServer, Map<PaneId, Waiting[]>>();

  /** @throws AppError RESOURCE_LIMIT; the signal's reason */
  async run<Result>(
    server: TmuxServer,
    pane: PaneId,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    await this.#turn(server, pane, signal);
    try {
      return await work();
    } finally {
      this.#next(server, pane);
    }
  }

  #turn(server: TmuxServer, pane: PaneId, signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    const panes = this.#busy.get(server) ?? new Map<PaneId, Waiting[]>();
    this.#busy.set(server, panes);
    const queue = panes.get(pane);
    if (queue === undefined) {
      panes.set(pane, []);
      return undefined;
    }
    if (queue.length >= MAX_DELIVERIES_WAITING) {
      throw new AppError("RESOURCE_LIMIT", `too many deliveries are waiting for pane ${pane}; wait for their answers`);
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(waiting), 1);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        begin: () => {
          signal.removeEventListener("abort", leave);
          resolve();
        },
      };
      queue.push(waiting);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  #next(server: TmuxServer, pane: PaneId): void {
    const panes = this.#busy.get(server);
    const next = panes?.get(pane)?.shift();
    if (next === undefined) panes?.delete(pane);
    else next.begin();
  }
}
