/**
 * Writes to a pty without ever blocking the process. The pty module's own stream is a libuv terminal, whose writes spin until
 * the other side has read, so a stopped or dead tmux would stop the daemon too. Here a write that does not fit waits, and is
 * retried when tmux has sent something (so it is also reading) and after a short while.
 */
import type { Clock, Timer } from "../../time/clock.ts";

/** tmux reads 4 KiB at a time and usually reads again at once. */
const RETRY_MIN_MS = 1;
/** How late we notice, at most, that a stopped tmux continues. */
const RETRY_MAX_MS = 20;

interface PtyWriterOptions {
  readonly clock: Clock;
  /** Writes what fits and returns how much. */
  readonly write: (bytes: Uint8Array) => number;
}

export class PtyWriter {
  readonly #options: PtyWriterOptions;
  #waiting: Uint8Array[] = [];
  #timer: Timer | undefined;
  #retryMs = RETRY_MIN_MS;
  #closed = false;

  constructor(options: PtyWriterOptions) {
    this.#options = options;
  }

  push(bytes: Uint8Array): void {
    if (this.#closed) return;
    this.#waiting.push(bytes);
    if (this.#waiting.length === 1) this.drain();
  }

  /** Writes what is waiting. */
  drain(): void {
    while (!this.#closed && this.#waiting.length > 0) {
      const [first] = this.#waiting as [Uint8Array];
      const written = this.#options.write(first);
      if (written === first.length) {
        this.#waiting.shift();
        this.#retryMs = RETRY_MIN_MS;
        continue;
      }
      if (written > 0) {
        this.#waiting[0] = first.subarray(written);
        this.#retryMs = RETRY_MIN_MS;
      }
      this.#retryLater();
      return;
    }
  }

  /** Drops what is waiting. Safe to call twice. */
  close(): void {
    this.#closed = true;
    this.#waiting = [];
    this.#timer?.cancel();
  }

  #retryLater(): void {
    if (this.#timer !== undefined) return;
    const { clock } = this.#options;
    this.#timer = clock.callAt(clock.nowMs() + this.#retryMs, () => {
      this.#timer = undefined;
      this.#retryMs = Math.min(RETRY_MAX_MS, this.#retryMs * 2);
      this.drain();
    });
  }
}
