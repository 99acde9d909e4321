/** Whether the tmux server is there, through the moments in which only our connection to it is being made anew. */
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { within } from "../../../daemon/time/within.ts";
import { GONE_PROBES_MS, RECONNECT_WITHIN_MS } from "../dashboardLimits.ts";

/** Three probes, of which the last is 15 ms after the first. */
const GONE_PROBES_NEEDED = 2;

/** Resolves when it is connected, known to be gone, or late. */
export async function untilSettled(server: TmuxServer, clock: Clock): Promise<void> {
  if (isSettled(server)) return;
  await within<void>(clock, RECONNECT_WITHIN_MS, undefined, (done) =>
    server.subscribe((event) => {
      if (event.kind === "state" && isSettled(server)) done();
    }),
  );
}

const isSettled = (server: TmuxServer): boolean => {
  const { state, identity } = server.status();
  return state !== "connecting" || identity === undefined;
};

/** Reports when a lost connection turns out to be the end of the server, not just of a session. */
export class GoneWatch {
  readonly #server: TmuxServer;
  readonly #clock: Clock;
  readonly #onGone: () => void;
  #timer: Timer | undefined;
  #missing = 0;

  constructor(server: TmuxServer, clock: Clock, onGone: () => void) {
    this.#server = server;
    this.#clock = clock;
    this.#onGone = onGone;
  }

  lost(): void {
    this.#missing = 0;
    this.#probe(0);
  }

  /** Safe to call twice. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #probe(tries: number): void {
    this.stop();
    const waitMs = GONE_PROBES_MS[tries];
    const seemsGone = this.#server.status().identity === undefined;
    // Not at the first probe: a server whose session ends can seem gone for a moment.
    this.#missing = seemsGone ? this.#missing + 1 : 0;
    if (waitMs === undefined || this.#missing > GONE_PROBES_NEEDED) {
      this.#onGone();
      return;
    }
    this.#timer = this.#clock.callAt(this.#clock.nowMs() + waitMs, () => this.#probe(tries + 1));
  }
}
