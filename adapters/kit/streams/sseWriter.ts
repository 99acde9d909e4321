/**
 * Writes server-sent events directly to the connection: no stream object, promise or chunk header between an event's bytes
 * and the socket. What is buffered for a reader is bounded: the caller checks `room` before it writes, and a reader that
 * reads nothing for `STREAM_STALL_MS` is disconnected.
 */
import type { ServerResponse } from "node:http";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { STREAM_BUFFER_BYTES, STREAM_KEEP_ALIVE_MS, STREAM_STALL_MS } from "./streamLimits.ts";

const KEEP_ALIVE = ":\n\n";

export interface SseOptions {
  readonly outgoing: ServerResponse;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Called when there is room again after there was none. */
  readonly onDrain: () => void;
  /** Called once, however the connection ended. */
  readonly onClose: (reason: "ended" | "gone" | "stalled") => void;
  readonly stallMs?: number | undefined;
  readonly bufferBytes?: number | undefined;
  /** Default `no-store`. */
  readonly cacheControl?: string | undefined;
  /** A keep-alive to send instead of an empty comment every `STREAM_KEEP_ALIVE_MS`. */
  readonly keepAlive?: { readonly frame: string; readonly everyMs: number } | undefined;
}

export class SseWriter {
  readonly #options: SseOptions;
  readonly #outgoing: ServerResponse;
  readonly #bufferBytes: number;
  #keepAliveTimer: Timer | undefined;
  #stall: Timer | undefined;
  #hasBegun = false;
  #closed = false;
  #reason: "ended" | "gone" | "stalled" = "gone";
  /** Not `drain`, which is emitted only past Node's own high-water mark, and that differs between versions. */
  readonly #onTaken = (): void => {
    if (this.#stall === undefined || this.#reason === "ended" || this.#outgoing.writableLength >= this.#bufferBytes)
      return;
    this.#stall.cancel();
    this.#stall = undefined;
    this.#options.onDrain();
  };

  constructor(options: SseOptions) {
    this.#options = options;
    this.#outgoing = options.outgoing;
    this.#bufferBytes = options.bufferBytes ?? STREAM_BUFFER_BYTES;
  }

  /** Sends the head, unless that was done: what fails before it can be an ordinary error response. */
  begin(): void {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const options = this.#options;
    const { outgoing } = options;
    // The body ends with the connection, which carries no further request.
    outgoing.useChunkedEncodingByDefault = false;
    outgoing.shouldKeepAlive = false;
    outgoing.writeHead(200, {
      ...options.headers,
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": options.cacheControl ?? "no-store",
      "x-accel-buffering": "no",
    });
    outgoing.flushHeaders();
    outgoing.socket?.setNoDelay(true);
    outgoing.once("close", () => {
      this.#closed = true;
      this.#keepAliveTimer?.cancel();
      this.#stall?.cancel();
      options.onClose(this.#reason);
    });
    // A reader that disconnected is reported by `close`.
    outgoing.on("error", () => undefined);
    this.#nextKeepAlive();
  }

  /** Bytes that may be written now; a call that returns none starts the stall timer. */
  room(): number {
    const left = this.#bufferBytes - this.#outgoing.writableLength;
    if (left <= 0) this.#stall ??= this.#watch(this.#outgoing.writableLength);
    return left;
  }

  write(event: string | Uint8Array): void {
    this.begin();
    if (!this.#outgoing.destroyed) this.#outgoing.write(event, this.#onTaken);
  }

  /** Flushes what is buffered, then closes. Safe to call twice. */
  end(): void {
    if (this.#closed) return;
    this.begin();
    this.#reason = "ended";
    this.#outgoing.end();
    this.#stall ??= this.#watch(this.#outgoing.writableLength);
  }

  #watch(bufferedBytes: number): Timer {
    const { clock, stallMs } = this.#options;
    return clock.callAt(clock.nowMs() + (stallMs ?? STREAM_STALL_MS), () => {
      const now = this.#outgoing.writableLength;
      if (now < bufferedBytes) {
        this.#stall = this.#watch(now);
        return;
      }
      if (this.#reason === "gone") this.#reason = "stalled";
      this.#outgoing.destroy();
    });
  }

  #nextKeepAlive(): void {
    const { clock, keepAlive } = this.#options;
    this.#keepAliveTimer = clock.callAt(clock.nowMs() + (keepAlive?.everyMs ?? STREAM_KEEP_ALIVE_MS), () => {
      if (this.#outgoing.writableLength === 0) this.write(keepAlive?.frame ?? KEEP_ALIVE);
      this.#nextKeepAlive();
    });
  }
}

/** One event; `data` must not contain a newline. */
export function sseEvent(event: string, data: string, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`;
}
