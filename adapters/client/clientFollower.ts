/**
 * One pane on a client's socket: received events not yet read, bounded by the credit granted, and the position to resume
 * from after a reconnect. Unread events are kept across it; only what follows them is requested.
 */
import type { StreamFrame } from "../../protocol/api/native/nativeFrames.ts";
import { Changes } from "../../daemon/time/changes.ts";
import { STREAM_INITIAL_CREDIT_BYTES } from "../../protocol/api/native/nativeFrames.ts";
import type { StreamMessage, StreamRequestOf } from "../../protocol/api/native/nativeStream.ts";
import { type PaneEvent, paneEvent, type SocketFollowOptions } from "./clientEvents.ts";
import { TmuxwireError, isPassing } from "./clientHttp.ts";

interface FollowerOptions {
  readonly server: string;
  readonly pane: string;
  readonly options: SocketFollowOptions;
  readonly credit: (channel: number, bytes: number) => void;
  /** Called once, with the channel if it still has one. */
  readonly onEnd: (follower: SocketFollower, channel: number | undefined) => void;
}

type ChannelMessage = Extract<StreamMessage, { readonly channel: number }>;

export class SocketFollower {
  readonly #options: FollowerOptions;
  readonly #window: number;
  #queue: PaneEvent[] = [];
  readonly #changes = new Changes();
  #channel: number | undefined;
  #epoch = "";
  #position: string | undefined;
  /** Bytes read for which new credit has not been granted yet. */
  #spent = 0;
  #gap: PaneEvent | undefined;
  #failure: unknown;
  #done = false;

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#window = options.options.creditBytes ?? STREAM_INITIAL_CREDIT_BYTES;
    options.options.signal?.addEventListener("abort", () => this.fail(options.options.signal?.reason), { once: true });
  }

  /** False once it has ended or failed. */
  get isOpen(): boolean {
    return !this.#done;
  }

  /** Whether a lost connection is a pause and not an error. */
  get isResumed(): boolean {
    return this.#options.options.resume !== false;
  }

  request(): Omit<StreamRequestOf<"subscribe">, "type" | "id"> {
    const { server, pane, options } = this.#options;
    const from = this.#position ?? options.from;
    // Its number of the connection before may be another pane's on this one.
    this.#channel = undefined;
    this.#gap = undefined;
    this.#spent = 0;
    // Unread bytes use up credit.
    const unread = this.#queue.reduce((sum, event) => sum + (event.kind === "output" ? event.bytes.length : 0), 0);
    const creditBytes = Math.max(1, this.#window - unread);
    return {
      server,
      pane,
      creditBytes,
      from,
      readiness: options.readiness,
      input: options.input,
    };
  }

  subscribed(message: Extract<StreamMessage, { readonly type: "subscribed" }>): void {
    this.#channel = message.channel;
    const { type: _type, id: _id, channel: _channel, ...open } = message;
    this.#epoch = epochOf(open.position);
    if (this.#position !== undefined) return;
    this.#position = open.position;
    this.#push({ kind: "open", ...open });
  }

  output({ outputSeq, bytes }: StreamFrame): void {
    this.#position = `${this.#epoch}:${outputSeq + bytes.length}`;
    this.#push({ kind: "output", bytes, position: this.#position });
  }

  message({ type, channel: _channel, ...rest }: ChannelMessage): void {
    const event = paneEvent(type, rest);
    if (event?.kind === "gap") {
      this.#gap = event;
      return;
    }
    if (event?.kind === "closed") {
      this.#channel = undefined;
      if (isPassing(event.code) && this.isResumed) return;
      this.#pushGap();
      this.#done = true;
    }
    if (event?.kind === "snapshot") {
      this.#position = event.position;
      this.#epoch = epochOf(event.position);
      this.#pushGap();
    }
    if (event !== undefined) this.#push(event);
  }

  /** Unread events are still delivered, then `error` is thrown. */
  fail(error: unknown): void {
    if (this.#done) return;
    this.#failure = error;
    this.#done = true;
    this.#changes.changed();
  }

  async *events(): AsyncGenerator<PaneEvent, void, void> {
    try {
      for (;;) {
        this.#options.options.signal?.throwIfAborted();
        const event = this.#queue.shift();
        if (event !== undefined) {
          yield event;
          if (event.kind === "output") this.#giveBack(event.bytes.length);
          continue;
        }
        if (this.#done) {
          if (this.#failure === undefined) return;
          // A pane missing after a reconnect has closed; a pane that never existed is an error.
          if (
            this.#failure instanceof TmuxwireError &&
            this.#failure.code === "NOT_FOUND" &&
            this.#position !== undefined
          ) {
            yield { kind: "closed", code: "NOT_FOUND", message: this.#failure.message };
            return;
          }
          throw this.#failure as Error;
        }
        await this.#changes.next(this.#changes.count);
      }
    } finally {
      this.#done = true;
      this.#options.onEnd(this, this.#channel);
    }
  }

  #giveBack(bytes: number): void {
    this.#spent += bytes;
    if (this.#channel === undefined || this.#spent < this.#window / 2) return;
    this.#options.credit(this.#channel, this.#spent);
    this.#spent = 0;
  }

  #pushGap(): void {
    if (this.#gap !== undefined) this.#push(this.#gap);
    this.#gap = undefined;
  }

  #push(event: PaneEvent): void {
    this.#queue.push(event);
    this.#changes.changed();
  }
}

const epochOf = (position: string): string => position.slice(0, position.indexOf(":"));
