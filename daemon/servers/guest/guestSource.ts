/**
 * A pane's stream as a guest hands it out: the same bytes, and a note of who uses them. While somebody subscribes, reads,
 * types or captures, the connection that carries the stream is kept; a source that nobody has used for a while may end.
 */
import type { Clock } from "../../time/clock.ts";
import type { ExitStatus, OutputListener, OutputSlice, OutputSource, Waiting } from "../../tmux/outputSource.ts";
import type { PaneStream } from "../../panes/paneStream.ts";

interface GuestSourceOptions {
  readonly stream: PaneStream;
  readonly clock: Clock;
  readonly onIdle: () => void;
  readonly waiting: () => Waiting | undefined;
}

export class GuestSource implements OutputSource {
  readonly stream: PaneStream;
  readonly #clock: Clock;
  readonly #onIdle: () => void;
  readonly #waiting: () => Waiting | undefined;
  #holds = 0;
  #usedMs: number;

  constructor({ stream, clock, onIdle, waiting }: GuestSourceOptions) {
    this.stream = stream;
    this.#clock = clock;
    this.#onIdle = onIdle;
    this.#waiting = waiting;
    this.#usedMs = clock.nowMs();
  }

  get id(): string {
    return this.stream.id;
  }

  get epoch(): string {
    return this.stream.epoch;
  }

  get outputSeq(): number {
    return this.stream.outputSeq;
  }

  get tailSeq(): number {
    return this.stream.tailSeq;
  }

  get lastOutputMs(): number | undefined {
    return this.stream.lastOutputMs;
  }

  get exit(): ExitStatus | undefined {
    return this.stream.exit;
  }

  get waiting(): Waiting | undefined {
    return this.#waiting();
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** When it was last used; undefined while it is. */
  get idleSinceMs(): number | undefined {
    return this.#holds > 0 ? undefined : this.#usedMs;
  }

  read(from: number, maxBytes?: number): OutputSlice {
    this.#usedMs = this.#clock.nowMs();
    return this.stream.read(from, maxBytes);
  }

  subscribe(listener: OutputListener): () => void {
    const release = this.hold();
    const unsubscribe = this.stream.subscribe({
      advanced: (from, to) => listener.advanced(from, to),
      gap: (gap) => listener.gap(gap),
      typed: (parts) => listener.typed?.(parts),
      exited: (status) => listener.exited(status),
      closed: (error) => {
        release();
        listener.closed(error);
      },
    });
    return () => {
      unsubscribe();
      release();
    };
  }

  /** Keeps the source in use until the returned function is called; that is safe to call twice. */
  hold(): () => void {
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      this.#usedMs = this.#clock.nowMs();
      if (this.#holds === 0) this.#onIdle();
    };
  }
}
