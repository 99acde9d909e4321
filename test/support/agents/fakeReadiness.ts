/** The readiness of a pane as a test says it is. */
import type { PaneReadiness, Readiness, ReadinessState } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { paneIdOf } from "../../../protocol/ids.ts";
import type { WaitPane } from "../../../daemon/waits/waitReading.ts";
import { PROFILES } from "./agentCatalogue.ts";

/** A watch of a pane whose readiness a test moves. */
export const watchOf = (
  current: () => Readiness,
  listeners: Set<(readiness: Readiness) => void>,
  closed: () => void = () => undefined,
): PaneReadiness => ({
  get current() {
    return current();
  },
  subscribe: (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  report: () => undefined,
  probe: () => Promise.resolve(current()),
  [Symbol.dispose]: closed,
});

export class FakeReadiness {
  watchers = 0;
  #current: Readiness;
  readonly #failure: Error | undefined;
  readonly #listeners = new Set<(readiness: Readiness) => void>();

  /** @param failure what watching it throws */
  constructor(state: ReadinessState, failure?: Error) {
    this.#current = { state, source: "hook", sinceUnixMs: 1, position: undefined, profile: "generic" };
    this.#failure = failure;
  }

  get pane(): WaitPane {
    return {
      server: {} as TmuxServer,
      id: paneIdOf(1),
      readiness: {
        profiles: PROFILES,
        watch: () => this.#watch(),
        known: () => this.#current,
        hadAgent: () => false,
      },
    };
  }

  become(state: ReadinessState): void {
    this.#current = { ...this.#current, state, sinceUnixMs: this.#current.sinceUnixMs + 1 };
    for (const listener of this.#listeners) listener(this.#current);
  }

  #watch(): PaneReadiness {
    if (this.#failure !== undefined) throw this.#failure;
    this.watchers += 1;
    return watchOf(
      () => this.#current,
      this.#listeners,
      () => void (this.watchers -= 1),
    );
  }
}
