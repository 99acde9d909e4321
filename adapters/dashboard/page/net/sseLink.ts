/**
 * A stream of the page: its state, and when it is retried. Nothing more is read until `onEvent` has finished.
 */
import { spreadBackOffMs } from "../../../../daemon/time/backOff.ts";
import type { Timed } from "../../../../daemon/time/clock.ts";
import type { SseEvent } from "../../../../protocol/text/sse.ts";
import { type FollowState, SseFollower } from "../../../client/sseFollower.ts";
import { Refused } from "../../../pages/askServer.ts";
import type { LinkState } from "../model/pageState.ts";

interface SseLinkOptions extends Timed {
  /** A successful response. @throws Refused */
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  readonly onState: (state: LinkState) => void;
  readonly onEvent: (event: SseEvent) => void | Promise<void>;
  /** Spreads the tries of many pages; between 0 and 1. */
  readonly random: () => number;
}

/** The daemon's heartbeat comes every 30 s at most: two and a half are missing. */
export const LINK_SILENCE_MS = 75_000;
/** A connection that lasted this long resets the count of tries. */
const STEADY_MS = 5_000;
const RETRY = { minMs: 500, maxMs: 15_000 };
/** A snapshot of a large screen is far below this; past it the stream is not the daemon's. */
const MAX_EVENT_CHARS = 8_388_608;

export class SseLink {
  readonly #options: SseLinkOptions;
  readonly #follower: SseFollower<never>;
  #closed = false;

  constructor(options: SseLinkOptions) {
    const { open, clock, nowUnixMs, onEvent } = options;
    this.#options = options;
    this.#follower = new SseFollower<never>({
      open,
      clock,
      nowUnixMs,
      decode: async (event) => {
        await onEvent(event);
        return undefined;
      },
      silenceMs: LINK_SILENCE_MS,
      steadyMs: STEADY_MS,
      maxEventChars: MAX_EVENT_CHARS,
      pauseMs: (loss, tries) => (isFinal(loss) ? undefined : this.#pauseMs(loss, tries)),
      onState: (state) => this.#report(state),
    });
    void this.#run();
  }

  /** Ends a pause between two tries: on request, or when the machine wakes up. */
  retryNow(): void {
    this.#follower.retryNow();
  }

  /** The machine may have slept, and the connection may have ended meanwhile without a word. */
  woke(): void {
    this.#follower.woke();
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
      // `decode` delivers all events itself: this only ends.
      await this.#follower.events().next();
    } catch (error) {
      if (!isFinal(error)) throw error;
      this.#options.onState({ kind: "refused", status: error.status, message: error.message });
    }
  }

  #report(state: FollowState): void {
    if (this.#closed) return;
    if (state.kind !== "lost") this.#options.onState(state);
    else this.#options.onState({ kind: "lost", retryAtMs: state.retryAtMs, message: messageOf(state.loss) });
  }

  #pauseMs(loss: unknown, tries: number): number {
    const asked = loss instanceof Refused ? loss.retryAfterMs : undefined;
    return Math.max(asked ?? 0, spreadBackOffMs(tries, RETRY, this.#options.random()));
  }
}

const isFinal = (loss: unknown): loss is Refused => loss instanceof Refused && loss.isFinal;

/** Each browser has its own message for a broken connection. */
const messageOf = (loss: unknown): string =>
  loss instanceof Error && !(loss instanceof TypeError) ? loss.message : "the connection broke off";
