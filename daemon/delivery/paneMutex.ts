/**
 * A mutex per pane: one delivery at a time, in the order in which they were requested. A delivery that waits can be
 * aborted; one that runs keeps the pane until it is done, or leaves it to others while it waits for a person.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";
import { MAX_DELIVERIES_WAITING } from "./deliveryLimits.ts";

/** Gives the pane to whoever is next, waits, and queues for it again. @throws what `wait` throws, and as `run` does */
export type WhileFree = (wait: () => Promise<void>) => Promise<void>;

export class PaneMutex {
  /** Locked panes, each with its queue. */
  readonly #locked = new WeakMap<TmuxServer, Map<PaneId, (() => void)[]>>();

  /** @throws AppError RESOURCE_LIMIT; the signal's reason */
  async run<Result>(
    server: TmuxServer,
    pane: PaneId,
    signal: AbortSignal,
    work: (whileFree: WhileFree) => Promise<Result>,
  ): Promise<Result> {
    await this.#lock(server, pane, signal);
    let isLocked = true;
    const whileFree: WhileFree = async (wait) => {
      this.#unlock(server, pane);
      isLocked = false;
      await wait();
      await this.#lock(server, pane, signal);
      isLocked = true;
    };
    try {
      return await work(whileFree);
    } finally {
      if (isLocked) this.#unlock(server, pane);
    }
  }

  #lock(server: TmuxServer, pane: PaneId, signal: AbortSignal): Promise<void> | undefined {
    signal.throwIfAborted();
    const panes = this.#locked.get(server) ?? new Map<PaneId, (() => void)[]>();
    this.#locked.set(server, panes);
    const queue = panes.get(pane);
    if (queue === undefined) {
      panes.set(pane, []);
      return undefined;
    }
    if (queue.length >= MAX_DELIVERIES_WAITING) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `too many deliveries are waiting for pane ${pane}; wait until they are done`,
      );
    }
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        queue.splice(queue.indexOf(begin), 1);
        reject(signal.reason as Error);
      };
      const begin = (): void => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      queue.push(begin);
      signal.addEventListener("abort", leave);
    });
  }

  #unlock(server: TmuxServer, pane: PaneId): void {
    const panes = this.#locked.get(server);
    const next = panes?.get(pane)?.shift();
    if (next === undefined) panes?.delete(pane);
    else next();
  }
}
