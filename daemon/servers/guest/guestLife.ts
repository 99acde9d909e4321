/**
 * The life of a guest server for those who use it. Its base connection comes, falls silent and goes; while it is gone, a
 * client that watches a session may still respond: a fallback.
 *
 *   ┌─► connecting ───── replied ──────► ready ─── fell silent ──► degraded
 *   │    │   ▲                            ▲  │ ◄────── replied ────── │
 *   │    │   └─ fallback went ─┐  replied │  │                        │
 *   │    └─ fallback came ─► covered ─────┘  │                        │
 *   │                           ▲            │                        │
 *   │                           └─────── lost with a fallback ────────┤
 *   └─────────────────────────────────── lost ────────────────────────┘
 *   every state ── closed ─► closed
 *
 * connecting: there is nothing to ask; `GuestReachability` knows why. covered: until the base is back, the fallback is asked,
 * and it is reported as `ready`. ready: the base has listed what is there. degraded: tmux does not respond.
 */
import type { ServerState } from "../../tmux/inventory.ts";

/** The base connection's, or what a fallback makes of it. */
type GuestState = ServerState | "covered";

interface GuestLifeOptions {
  readonly hasFallback: () => boolean;
  /** What entering a state does, before it is reported. */
  readonly onEnter: (state: GuestState) => void;
  readonly report: (state: ServerState) => void;
}

export class GuestLife {
  readonly #options: GuestLifeOptions;
  #base: ServerState = "connecting";
  #state: GuestState = "connecting";
  #reported: ServerState = "connecting";

  constructor(options: GuestLifeOptions) {
    this.#options = options;
  }

  get state(): GuestState {
    return this.#state;
  }

  /** What is reported of it. */
  get serverState(): ServerState {
    return this.#state === "covered" ? "ready" : this.#state;
  }

  /** A client that watches a session could be asked instead of the base. */
  get hasFallback(): boolean {
    return this.#options.hasFallback();
  }

  /** The base connection's state has changed. */
  baseChanged(base: ServerState): void {
    if (this.#base === "closed") return;
    this.#base = base;
    this.clientsChanged();
  }

  /** A client that watches a session was attached, or has gone. */
  clientsChanged(): void {
    const isCovered = this.#base === "connecting" && this.hasFallback;
    const next = isCovered ? "covered" : this.#base;
    if (next === this.#state) return;
    this.#state = next;
    this.#options.onEnter(next);
    // `ready` again tells whoever lost a stream that it can be reopened.
    this.#report(next === "ready");
  }

  /** Streams have ended though their panes exist: they can be reopened. */
  reopened(): void {
    if (this.serverState === "ready") this.#report(true);
  }

  #report(evenAgain: boolean): void {
    const state = this.serverState;
    if (state === this.#reported && !evenAgain) return;
    this.#reported = state;
    this.#options.report(state);
  }
}
