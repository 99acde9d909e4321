/** The readiness of a pane as a test says it is. */
import type { PaneReadiness, Readiness, ReadinessState } from "../../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { paneIdOf } from "../../../protocol/ids.ts";
import type { WaitPane } from "../../../daemon/waits/waitReading.ts";

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
      readiness: { watch: () => this.#watch(), known: () => this.#current, hadAgent: () => false },
    };
  }

  become(state: ReadinessState): void {
    this.#current = { ...this.#current, state, sinceUnixMs: this.#current.sinceUnixMs + 1 };
    for (const listener of this.#listeners) listener(this.#current);
  }

  #watch(): PaneReadiness {
    if (this.#failure !== undefined) throw this.#failure;
    this.watchers += 1;
    const current = (): Readiness => this.#current;
    return {
      get current() {
        return current();
      },
      subscribe: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      report: () => undefined,
      probe: () => Promise.resolve(current()),
      [Symbol.dispose]: () => void (this.watchers -= 1),
    };
  }
}
