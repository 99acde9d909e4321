/**
 * A pane's stream as a guest hands it out, with a note of who uses it. While somebody subscribes, reads, types or captures,
 * the connection that carries the stream is kept; one that nobody has used for a while may end.
 */
import type { Clock } from "../../time/clock.ts";
import { PaneStream, type PaneStreamOptions } from "../../panes/paneStream.ts";
import type { OutputListener, OutputSlice, Waiting } from "../../tmux/outputSource.ts";

interface GuestStreamOptions extends PaneStreamOptions {
  readonly clock: Pick<Clock, "nowMs">;
  readonly onIdle: (stream: GuestStream) => void;
  readonly waiting?: (() => Waiting | undefined) | undefined;
}

export class GuestStream extends PaneStream {
  readonly #options: GuestStreamOptions;
  #holds = 0;
  #usedMs: number;

  constructor(options: GuestStreamOptions) {
    super(options);
    this.#options = options;
    this.#usedMs = options.clock.nowMs();
  }

  get waiting(): Waiting | undefined {
    return this.#options.waiting?.();
  }

  get isHeld(): boolean {
    return this.#holds > 0;
  }

  /** When it was last used; undefined while it is. */
  get idleSinceMs(): number | undefined {
    return this.#holds > 0 ? undefined : this.#usedMs;
  }

  override read(from: number, maxBytes?: number): OutputSlice {
    this.#usedMs = this.#options.clock.nowMs();
    return super.read(from, maxBytes);
  }

  override subscribe(listener: OutputListener): () => void {
    const release = this.hold();
    const unsubscribe = super.subscribe({
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

  /** Keeps the stream in use until the returned function is called; that is safe to call twice. */
  hold(): () => void {
    this.#holds += 1;
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#holds -= 1;
      this.#usedMs = this.#options.clock.nowMs();
      if (this.#holds === 0) this.#options.onIdle(this);
    };
  }
}
