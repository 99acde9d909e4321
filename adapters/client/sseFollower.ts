/**
 * Keeps one event stream open, for the typed client and the pages: it reconnects after a loss, resumes after the last event
 * delivered, and treats a silence longer than the daemon's keep-alive interval as a loss. It reads no further than its
 * reader. Runs in browsers and Node alike.
 */
import { Changes } from "../../daemon/time/changes.ts";
import type { Clock, Timer } from "../../daemon/time/clock.ts";
import { type SseEvent, SseParser } from "../../protocol/text/sse.ts";

export type FollowState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The next attempt is at `retryAtMs` of the clock. */
  | { readonly kind: "lost"; readonly retryAtMs: number; readonly loss: unknown };

/** An established connection was lost. */
export class SseLoss extends Error {
  readonly reason: "ended" | "silent" | "cut";

  constructor(reason: SseLoss["reason"], cause?: unknown) {
    // Browsers report a broken connection as a TypeError, each with its own message.
    const message = cause instanceof Error && !(cause instanceof TypeError) ? cause.message : WORDS[reason];
    super(message, cause === undefined ? undefined : { cause });
    this.name = "SseLoss";
    this.reason = reason;
  }
}

const WORDS: Readonly<Record<SseLoss["reason"], string>> = {
  ended: "the daemon ended the connection",
  silent: "the daemon sent nothing for a while",
  cut: "the connection broke",
};

interface SseFollowerOptions<Decoded> {
  /** Resolves with a successful response; an error counts as a loss. */
  readonly open: (lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** Undefined skips the event. An error counts as a loss, and the event is requested again. */
  readonly decode: (event: SseEvent) => Decoded | undefined | Promise<Decoded | undefined>;
  readonly clock: Clock;
  readonly silenceMs: number;
  /** For `woke`: unlike the clock, it goes on while the machine sleeps. */
  readonly nowUnixMs?: (() => number) | undefined;
  /** How long to wait before the next attempt; undefined: do not retry, throw the loss. */
  readonly pauseMs: (loss: unknown, tries: number) => number | undefined;
  /** A connection that lasted this long resets the count of attempts. 0: one that delivered an event does. */
  readonly steadyMs: number;
  /** Where to start. */
  readonly lastEventId?: string | undefined;
  readonly maxEventChars?: number | undefined;
  readonly onState?: ((state: FollowState) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class SseFollower<Decoded> {
  readonly #options: SseFollowerOptions<Decoded>;
  #abort: AbortController | undefined;
  #watch: SilenceWatch | undefined;
  readonly #changes = new Changes();
  #closed = false;
  #tries = 0;
  #lastEventId: string | undefined;

  constructor(options: SseFollowerOptions<Decoded>) {
    this.#options = options;
    this.#lastEventId = options.lastEventId;
  }

  /** Ends the pause before the next attempt. */
  retryNow(): void {
    this.#changes.changed();
  }

  /** The machine may have slept: whether that was longer than silence may last is found out now. */
  woke(): void {
    this.#watch?.check();
  }

  /** Ends `events`. Safe to call twice. */
  close(): void {
    this.#closed = true;
    this.#abort?.abort();
    this.#changes.changed();
  }

  /** Call once. @throws a loss that is not retried; the signal's reason when it aborts */
  async *events(): AsyncGenerator<Decoded, void, void> {
    const { clock, pauseMs, onState, signal } = this.#options;
    const onAbort = (): void => this.close();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      signal?.throwIfAborted();
      onState?.({ kind: "connecting" });
      while (!this.#closed) {
        let loss: unknown;
        try {
          yield* this.#connection();
          loss = new SseLoss("ended");
        } catch (error) {
          loss = error;
        }
        if (this.#closed) break;
        const waitMs = pauseMs(loss, this.#tries);
        if (waitMs === undefined) throw loss;
        this.#tries += 1;
        const retryAtMs = clock.nowMs() + waitMs;
        onState?.({ kind: "lost", retryAtMs, loss });
        // oxlint-disable-next-line no-await-in-loop -- a pause between two connections
        if (!this.#closed) await this.#changes.next(this.#changes.count, clock, retryAtMs);
      }
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  async *#connection(): AsyncGenerator<Decoded, void, void> {
    const { open, clock, steadyMs, onState, maxEventChars } = this.#options;
    const abort = new AbortController();
    this.#abort = abort;
    const watch = new SilenceWatch(this.#options, () => abort.abort());
    this.#watch = watch;
    let liveMs = Number.POSITIVE_INFINITY;
    try {
      const { body } = await open(this.#lastEventId, abort.signal);
      if (body === null) throw new SseLoss("cut", new Error("the response has no body"));
      liveMs = clock.nowMs();
      onState?.({ kind: "live" });
      const reader: ReadableStreamDefaultReader<Uint8Array> = body.getReader();
      // `fetch` ends its response's body on abort; any other body is cancelled here.
      abort.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined), { once: true });
      const parser = new SseParser(maxEventChars === undefined ? {} : { maxEventChars });
      for (;;) {
        // oxlint-disable-next-line no-await-in-loop -- chunks come one after another
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw new SseLoss("cut", error);
        });
        if (done) break;
        watch.received();
        // oxlint-disable-next-line no-await-in-loop -- and events in their order
        yield* this.#taken(parser.push(value));
      }
      if (watch.silent) throw new SseLoss("silent");
    } catch (error) {
      throw watch.silent ? new SseLoss("silent") : error;
    } finally {
      if (steadyMs > 0 && clock.nowMs() - liveMs >= steadyMs) this.#tries = 0;
      watch.cancel();
      abort.abort();
    }
  }

  async *#taken(events: readonly SseEvent[]): AsyncGenerator<Decoded, void, void> {
    const { decode, steadyMs } = this.#options;
    for (const event of events) {
      if (this.#closed) return;
      const result = decode(event);
      // oxlint-disable-next-line no-await-in-loop -- in order, and no faster than they are taken
      const decoded = result instanceof Promise ? await result : result;
      if (decoded !== undefined) yield decoded;
      if (event.id !== "") this.#lastEventId = event.id;
      if (steadyMs === 0) this.#tries = 0;
    }
  }
}

type SilenceOptions = Pick<SseFollowerOptions<never>, "clock" | "silenceMs" | "nowUnixMs">;

/** Uses one timer, not one per event. */
class SilenceWatch {
  readonly #options: SilenceOptions;
  readonly #onSilence: () => void;
  #receivedMs = 0;
  #receivedUnixMs: number | undefined;
  #timer: Timer;
  silent = false;

  constructor(options: SilenceOptions, onSilence: () => void) {
    this.#options = options;
    this.#onSilence = onSilence;
    this.received();
    this.#timer = this.#arm();
  }

  received(): void {
    const { clock, nowUnixMs } = this.#options;
    this.#receivedMs = clock.nowMs();
    this.#receivedUnixMs = nowUnixMs?.();
  }

  check(): void {
    const { nowUnixMs, silenceMs } = this.#options;
    if (nowUnixMs !== undefined && nowUnixMs() - (this.#receivedUnixMs ?? 0) >= silenceMs) this.#end();
  }

  cancel(): void {
    this.#timer.cancel();
  }

  #arm(): Timer {
    const { clock, silenceMs } = this.#options;
    return clock.callAt(this.#receivedMs + silenceMs, () => {
      if (clock.nowMs() - this.#receivedMs < silenceMs) this.#timer = this.#arm();
      else this.#end();
    });
  }

  #end(): void {
    this.silent = true;
    this.#onSilence();
  }
}
