/**
 * One event stream kept open: it comes back by itself after a loss, says what state it is in, and takes a silence longer
 * than the daemon's signs of life for a loss. `onEvent` may take its time: nothing more is read until it has.
 */
import type { Clock, Timer } from "../../../../daemon/time/clock.ts";
import { type SseEvent, SseParser } from "../../../../protocol/text/sse.ts";
import { ApiError } from "./apiError.ts";

export type LinkState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** It will be tried again at `retryAtMs` of the clock. */
  | { readonly kind: "lost"; readonly retryAtMs: number; readonly message: string }
  /** Trying again would change nothing. */
  | { readonly kind: "refused"; readonly status: number; readonly message: string }
  | { readonly kind: "closed" };

export interface SseLinkOptions {
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
  #abort: AbortController | undefined;
  #wake: (() => void) | undefined;
  #closed = false;
  #tries = 0;
  #lastEventId: string | undefined;

  constructor(options: SseLinkOptions) {
    this.#options = options;
    void this.#run();
  }

  /** Ends a pause between two tries: the person asked, or the machine woke up. */
  retryNow(): void {
    this.#wake?.();
  }

  /** Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#abort?.abort();
    this.#wake?.();
    this.#options.onState({ kind: "closed" });
  }

  async #run(): Promise<void> {
    const { clock, onState } = this.#options;
    onState({ kind: "connecting" });
    while (!this.#closed) {
      // oxlint-disable-next-line no-await-in-loop -- one connection after another
      const loss = await this.#follow();
      if (this.#closed) return;
      if (loss instanceof ApiError && loss.isFinal) {
        onState({ kind: "refused", status: loss.status, message: loss.message });
        return;
      }
      const retryAtMs = clock.nowMs() + this.#pauseMs(loss);
      onState({ kind: "lost", retryAtMs, message: loss.message });
      // oxlint-disable-next-line no-await-in-loop -- a pause between two connections
      await this.#sleepUntil(retryAtMs);
    }
  }

  /** Why it ended. */
  async #follow(): Promise<Error> {
    const { open, clock, onState, onEvent } = this.#options;
    const abort = new AbortController();
    this.#abort = abort;
    const watch = new SilenceWatch(clock, () => abort.abort());
    let liveMs = Number.POSITIVE_INFINITY;
    try {
      const response = await open(this.#lastEventId, abort.signal);
      if (response.body === null) throw new Error("the answer has no body");
      liveMs = clock.nowMs();
      onState({ kind: "live" });
      const parser = new SseParser({ maxEventChars: MAX_EVENT_CHARS });
      const reader = response.body.getReader();
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- chunks come one after another
        const { done, value } = await reader.read();
        if (done) return new Error("the daemon ended the connection");
        watch.heard();
        for (const event of parser.push(value)) {
          if (this.#closed) break;
          // oxlint-disable-next-line no-await-in-loop -- in order, and no faster than they are taken
          await onEvent(event);
          if (event.id !== "") this.#lastEventId = event.id;
        }
      }
    } catch (error) {
      if (watch.silent) return new Error("nothing came from the daemon for a while");
      // Browsers each have their own words for it.
      if (!(error instanceof Error) || error instanceof TypeError) return new Error("the connection broke off");
      return error;
    } finally {
      if (clock.nowMs() - liveMs >= STEADY_MS) this.#tries = 0;
      watch.cancel();
      abort.abort();
    }
  }

  #pauseMs(loss: Error): number {
    const asked = loss instanceof ApiError ? loss.retryAfterMs : undefined;
    const doubled = Math.min(RETRY_MAX_MS, RETRY_MIN_MS * 2 ** this.#tries++);
    return Math.max(asked ?? 0, doubled * (0.5 + this.#options.random() / 2));
  }

  #sleepUntil(atMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        this.#wake = undefined;
        resolve();
      };
      const timer = this.#options.clock.callAt(atMs, wake);
      this.#wake = wake;
    });
  }
}

/** One timer however much is heard. */
class SilenceWatch {
  readonly #clock: Clock;
  readonly #onSilence: () => void;
  #heardMs: number;
  #timer: Timer;
  silent = false;

  constructor(clock: Clock, onSilence: () => void) {
    this.#clock = clock;
    this.#onSilence = onSilence;
    this.#heardMs = clock.nowMs();
    this.#timer = this.#arm();
  }

  heard(): void {
    this.#heardMs = this.#clock.nowMs();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #arm(): Timer {
    return this.#clock.callAt(this.#heardMs + LINK_SILENCE_MS, () => {
      if (this.#clock.nowMs() - this.#heardMs < LINK_SILENCE_MS) {
        this.#timer = this.#arm();
        return;
      }
      this.silent = true;
      this.#onSilence();
    });
  }
}
