/**
 * Whether the tmux server is there. At the start it is unknown until the server has been listed, which after a crash can take
 * seconds, because tmux is busy with the clients that it has lost: what depends on it is deferred. Later it counts as there
 * through the moments in which only our connection is being made anew. A caller that can wait does so here, within a bound.
 */
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { Agent } from "../agents/agent.ts";
import { GONE_PROBES_MS, RECONNECT_WITHIN_MS } from "../dashboardLimits.ts";

/** Three probes, of which the last is 15 ms after the first. */
const GONE_PROBES_NEEDED = 2;

interface ServerPresenceOptions extends Surroundings {
  readonly server: TmuxServer;
  /** Never rejects. */
  readonly listed: Promise<void>;
  /** Since when (unix ms) it does not run; undefined: it does again. */
  readonly onChange: (goneSinceUnixMs: number | undefined) => void;
}

export class ServerPresence {
  isListed = false;
  /** Unix ms; undefined: it runs, or that is not known yet. */
  goneSinceUnixMs: number | undefined;
  readonly #options: ServerPresenceOptions;
  readonly #over: Promise<void>;
  readonly #later = new Map<Agent, () => void>();
  readonly #unsubscribe: () => void;
  #timer: Timer | undefined;
  #missing = 0;
  #isClosed = false;

  constructor(options: ServerPresenceOptions) {
    const { listed, server } = options;
    this.#options = options;
    this.#over = listed.then(() => this.#listed());
    this.#unsubscribe = server.subscribe((event) => {
      if (event.kind !== "state") return;
      this.#timer?.cancel();
      this.#missing = 0;
      if (event.state === "ready") this.#setGone(false);
      else if (event.state === "connecting") this.#probe(0);
      else if (event.state === "closed") this.#setGone(true);
    });
  }

  /** Runs `act` once it has been listed, or now; of several for one agent only the last. */
  whenListed(agent: Agent, act: () => void): void {
    if (this.isListed) act();
    else this.#later.set(agent, act);
  }

  /** Resolves when it has been listed and is connected or known to be gone, or late. */
  async settled(): Promise<void> {
    const { clock, server } = this.#options;
    const isSettled = (): boolean => {
      const { state, identity } = server.status();
      return this.isListed && (state !== "connecting" || identity === undefined);
    };
    if (isSettled()) return;
    await within<void>(clock, RECONNECT_WITHIN_MS, undefined, (done) => {
      const look = (): void => {
        if (isSettled()) done();
      };
      void this.#over.then(look);
      return server.subscribe(look);
    });
  }

  /** Drops what was deferred. Safe to call twice. */
  close(): void {
    this.#unsubscribe();
    this.#timer?.cancel();
    this.#later.clear();
    this.#isClosed = true;
  }

  #listed(): void {
    this.isListed = true;
    for (const act of this.#later.values()) {
      try {
        act();
      } catch (error) {
        this.#options.log.error("dashboard.deferred.failed", { error });
      }
    }
    this.#later.clear();
    // It may not run when we start.
    const { state, identity } = this.#options.server.status();
    if (state !== "ready" && identity === undefined) this.#setGone(true);
  }

  #setGone(isGone: boolean): void {
    const { nowUnixMs, onChange } = this.#options;
    if (this.#isClosed || isGone === (this.goneSinceUnixMs !== undefined)) return;
    this.goneSinceUnixMs = isGone ? nowUnixMs() : undefined;
    onChange(this.goneSinceUnixMs);
  }

  /** A lost connection may turn out to be the end of the server, not just of a session. */
  #probe(tries: number): void {
    const { clock, server } = this.#options;
    const waitMs = GONE_PROBES_MS[tries];
    // Not at the first probe: a server whose session ends can seem gone for a moment.
    this.#missing = server.status().identity === undefined ? this.#missing + 1 : 0;
    if (waitMs === undefined || this.#missing > GONE_PROBES_NEEDED) this.#setGone(true);
    else this.#timer = clock.callAt(clock.nowMs() + waitMs, () => this.#probe(tries + 1));
  }
}
