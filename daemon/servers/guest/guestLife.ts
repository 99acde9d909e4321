/**
 * The life of a guest server for those who use it. Its base connection comes, falls silent and goes; while it is gone, a
 * client that watches a session may still respond: a fallback.
 *
 *   ┌─► waiting ──────── replied ─────────► ready ──── fell silent ───► silent
 *   │    │   ▲                              ▲  │ ◄────── replied ──────── │
 *   │    │   └─ fallback went ─┐    replied │  │                          │
 *   │    └─ fallback came ─► covered ───────┘  │                          │
 *   │                           ▲              │                          │
 *   │                           └──────── lost with a fallback ───────────┤
 *   └──────────────────────────────────── lost ───────────────────────────┘
 *   every state ── closed ─► closed
 *
 * waiting: there is nothing to ask; `GuestReachability` knows why. covered: until the base is back, the fallback is asked.
 * ready: the base has listed what is there. silent: tmux does not respond. `covered` is reported as `ready`.
 */
import type { AppError } from "../../../protocol/errors.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { ServerState } from "../../tmux/inventory.ts";
import type { Presence } from "./guestPresence.ts";

type GuestState = "waiting" | "covered" | "ready" | "silent" | "closed";
type GuestEvent =
  | "replied"
  | "fell silent"
  | "lost"
  | "lost with a fallback"
  | "fallback came"
  | "fallback went"
  | "closed";

const LOST = { lost: "waiting", "lost with a fallback": "covered" } as const;

/** An event that is not listed changes nothing. */
const NEXT: Readonly<Record<GuestState, Readonly<Partial<Record<GuestEvent, GuestState>>>>> = {
  waiting: { replied: "ready", "fallback came": "covered", closed: "closed" },
  covered: { replied: "ready", "fallback went": "waiting", closed: "closed" },
  ready: { "fell silent": "silent", ...LOST, closed: "closed" },
  silent: { replied: "ready", ...LOST, closed: "closed" },
  closed: {},
};

const REPORTED: Readonly<Record<GuestState, ServerState>> = {
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
  /** Every few seconds while tmux responds. */
  onBeat(): void;
  /** What was known is void: there is no server, no session in it, or it is another one. */
  onGone(error: AppError): void;
  /** The base is attached anew, and has listed what is there. */
  onAttached(connection: ControlConnection): void;
  /** It is on another session. */
  onMoved(): void;
  /** @param value of `WRITTEN`: when each window was last written to */
  onWritten(value: string): void;
  /** Who is attached where has been listed again. */
  onPresence(presence: Presence): void;
}

interface GuestLifeOptions {
  /** A client that watches a session could be asked instead of the base. */
  readonly hasFallback: () => boolean;
  /** What entering a state does, before it is reported. */
  readonly onEnter: (state: GuestState) => void;
  readonly report: (state: ServerState) => void;
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

  /** What is reported of it. */
  get serverState(): ServerState {
    return REPORTED[this.#state];
  }

  /** The base connection's state has changed. */
  baseChanged(base: ServerState): void {
    switch (base) {
      case "ready":
        // `ready` again tells whoever lost a stream that it can be reopened.
        this.#take("replied", true);
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

  /** Streams have ended though their panes exist: they can be reopened. */
  reopened(): void {
    if (this.serverState === "ready") this.#report(true);
  }

  #take(event: GuestEvent, evenAgain = false): void {
    const next = NEXT[this.#state][event];
    if (next === undefined) return;
    this.#state = next;
    this.#options.onEnter(next);
    this.#report(evenAgain);
  }

  #report(evenAgain: boolean): void {
    const state = this.serverState;
    if (state === this.#reported && !evenAgain) return;
    this.#reported = state;
    this.#options.report(state);
  }
}
