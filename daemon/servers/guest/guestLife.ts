/**
 * The life of a guest server for those who use it. Its base connection comes, falls silent and goes; while it is gone, a
 * client that watches a session may still answer: a fallback.
 *
 *   ┌─► waiting ──────── answered ────────► ready ──── fell silent ───► silent
 *   │    │   ▲                              ▲  │ ◄────── answered ─────── │
 *   │    │   └─ fallback went ─┐   answered │  │                          │
 *   │    └─ fallback came ─► covered ───────┘  │                          │
 *   │                           ▲              │                          │
 *   │                           └──────── lost with a fallback ───────────┤
 *   └──────────────────────────────────── lost ───────────────────────────┘
 *   every state ── closed ─► closed
 *
 * waiting: there is nothing to ask; `GuestReachability` knows why. covered: the base comes back, the fallback is asked.
 * ready: the base has listed what is there. silent: tmux does not answer. Users are told of `covered` as `ready`.
 */
import type { AppError } from "../../../protocol/errors.ts";
import type { ServerState } from "../../tmux/inventory.ts";
import type { Presence } from "./guestPresence.ts";

type GuestState = "waiting" | "covered" | "ready" | "silent" | "closed";
type GuestEvent =
  | "answered"
  | "fell silent"
  | "lost"
  | "lost with a fallback"
  | "fallback came"
  | "fallback went"
  | "closed";

const LOST = { lost: "waiting", "lost with a fallback": "covered" } as const;

/** What is not named changes nothing. */
const NEXT: Readonly<Record<GuestState, Readonly<Partial<Record<GuestEvent, GuestState>>>>> = {
  waiting: { answered: "ready", "fallback came": "covered", closed: "closed" },
  covered: { answered: "ready", "fallback went": "waiting", closed: "closed" },
  ready: { "fell silent": "silent", ...LOST, closed: "closed" },
  silent: { answered: "ready", ...LOST, closed: "closed" },
  closed: {},
};

const TOLD: Readonly<Record<GuestState, ServerState>> = {
  waiting: "connecting",
  covered: "ready",
  ready: "ready",
  silent: "degraded",
  closed: "closed",
};

/** What a guest does when its base connection changes. */
export interface GuestBaseListener {
  /** Another client can be asked meanwhile. */
  hasFallback(): boolean;
  onState(state: ServerState): void;
  /** Every few seconds while tmux answers. */
  onBeat(): void;
  /** What was known is void: there is no server, no session in it, or it is another one. */
  onGone(error: AppError): void;
  /** Who is attached where has been asked again. */
  onPresence(presence: Presence): void;
}

interface GuestLifeOptions {
  /** A client that watches a session could be asked instead of the base. */
  readonly hasFallback: () => boolean;
  /** What entering a state does, before anybody is told of it. */
  readonly onEnter: (state: GuestState) => void;
  readonly tell: (state: ServerState) => void;
}

export class GuestLife {
  readonly #options: GuestLifeOptions;
  #state: GuestState = "waiting";
  #reported: ServerState = "connecting";

  constructor(options: GuestLifeOptions) {
    this.#options = options;
  }

  get state(): GuestState {
    return this.#state;
  }

  /** What users are told of it. */
  get serverState(): ServerState {
    return TOLD[this.#state];
  }

  /** The base connection's state has changed. */
  baseChanged(base: ServerState): void {
    switch (base) {
      case "ready":
        // Told again, `ready` says to whoever lost a stream that it can be opened.
        this.#take("answered", true);
        return;
      case "degraded":
        this.#take("fell silent");
        return;
      case "connecting":
        this.#take(this.#options.hasFallback() ? "lost with a fallback" : "lost");
        return;
      case "closed":
        this.#take("closed");
        return;
    }
  }

  /** A client that watches a session was attached, or has gone. */
  clientsChanged(): void {
    this.#take(this.#options.hasFallback() ? "fallback came" : "fallback went");
  }

  /** Streams have ended though their panes are there: they can be opened again. */
  reopened(): void {
    if (this.serverState === "ready") this.#tell(true);
  }

  #take(event: GuestEvent, evenAgain = false): void {
    const next = NEXT[this.#state][event];
    if (next === undefined) return;
    this.#state = next;
    this.#options.onEnter(next);
    this.#tell(evenAgain);
  }

  #tell(evenAgain: boolean): void {
    const state = this.serverState;
    if (state === this.#reported && !evenAgain) return;
    this.#reported = state;
    this.#options.tell(state);
  }
}
