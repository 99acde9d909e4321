/**
 * A stream of the page: what state it is in, and when it is tried again. `onEvent` may take its time: nothing more is read
 * until it has.
 */
import type { Clock } from "../../../../daemon/time/clock.ts";
import type { SseEvent } from "../../../../protocol/text/sse.ts";
import { type FollowState, SseFollower } from "../../../client/sseFollower.ts";
import { ApiError } from "./apiError.ts";

export type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** It will be tried again at `retryAtMs` of the clock. */
  | { readonly kind: "lost"; readonly retryAtMs: number; readonly message: string }
  /** Trying again would change nothing. */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  | { readonly kind: "closed" };

interface SseLinkOptions {
  /** A response whose status is good. @throws ApiError */
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  readonly clock: Clock;
  readonly onState: (state: LinkState) => void;
  readonly onEvent: (event: SseEvent) => void | Promise<void>;
  /** Spreads the tries of many pages; between 0 and 1. */
  readonly random: () => number;
}

/** The daemon's heartbeat comes every 30 s at most: two and a half of them missing. */
export const LINK_SILENCE_MS = 75_000;
/** A connection that held this long was a good one: the next loss is its own. */
const STEADY_MS = 5_000;
const RETRY_MIN_MS = 500;
const RETRY_MAX_MS = 15_000;
/** A snapshot of a large screen is far below this; past it the stream is not the daemon's. */
const MAX_EVENT_CHARS = 8_388_608;

export class SseLink {
  readonly #options: SseLinkOptions;
  readonly #follower: SseFollower<never>;
  #closed = false;

  constructor(options: SseLinkOptions) {
    const { open, clock, onEvent } = options;
    this.#options = options;
    this.#follower = new SseFollower<never>({
      open,
      clock,
      decode: async (event) => {
        await onEvent(event);
        return undefined;
      },
      silenceMs: LINK_SILENCE_MS,
      steadyMs: STEADY_MS,
      maxEventChars: MAX_EVENT_CHARS,
      pauseMs: (loss, tries) => (isFinal(loss) ? undefined : this.#pauseMs(loss, tries)),
      onState: (state) => this.#tell(state),
    });
    void this.#run();
  }

  /** Ends a pause between two tries: the person asked, or the machine woke up. */
  retryNow(): void {
    this.#follower.retryNow();
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#follower.close();
    this.#options.onState({ kind: "closed" });
  }

  async #run(): Promise<void> {
    try {
      // `decode` hands all events out: nothing comes but the end.
      await this.#follower.events().next();
    } catch (error) {
      if (!isFinal(error)) throw error;
      this.#options.onState({ kind: "refused", status: error.status, message: error.message });
    }
  }

  #tell(state: FollowState): void {
    if (this.#closed) return;
    if (state.kind !== "lost") this.#options.onState(state);
    else this.#options.onState({ kind: "lost", retryAtMs: state.retryAtMs, message: messageOf(state.loss) });
  }

  #pauseMs(loss: unknown, tries: number): number {
    const asked = loss instanceof ApiError ? loss.retryAfterMs : undefined;
    const doubled = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** tries);
    return Math.max(asked ?? 0, doubled * (0.5 + this.#options.random() / 2));
  }
}

const isFinal = (loss: unknown): loss is ApiError => loss instanceof ApiError && loss.isFinal;

/** Browsers each have their own words for a connection that breaks. */
const messageOf = (loss: unknown): string =>
  loss instanceof Error && !(loss instanceof TypeError) ? loss.message : "the connection broke off";
