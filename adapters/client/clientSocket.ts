/**
 * One WebSocket for many panes. Each followed pane is an async iterable with its own credit, so a slow reader delays only
 * its own pane. After a lost connection it reconnects and every pane resumes from its last position; input in flight is not
 * sent again, because it may have arrived.
 */
import type { Timer } from "../../daemon/time/clock.ts";
import { decodeStreamFrame, STREAM_BEARER_PREFIX, STREAM_PROTOCOL } from "../../protocol/api/native/nativeFrames.ts";
import type { NativeInputPart } from "../../protocol/api/native/nativeRequests.ts";
import type { StreamMessage, StreamRequest } from "../../protocol/api/native/nativeStream.ts";
import { after, type PaneEvent, retryDelayMs, type SocketFollowOptions } from "./clientEvents.ts";
import { type HttpCaller, isPassing, TmuxwireError } from "./clientHttp.ts";
import { SocketFollower } from "./clientFollower.ts";

/** The part of a WebSocket that is used; the browser's and that of the `ws` package both fit. */
interface WebSocketLike {
  binaryType: string;
  readonly readyState: number;
  send(data: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "close" | "error", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void;
}

type WebSocketConstructor = new (url: string, protocols: string[]) => WebSocketLike;

export interface SocketOptions {
  /** Default: the global one. Node 20 has none; pass that of `ws`. */
  readonly WebSocket?: WebSocketConstructor | undefined;
}

const OPEN = 1;

interface Pending {
  readonly resolve: (message: StreamMessage) => void;
  readonly reject: (error: unknown) => void;
}

export class ClientSocket {
  readonly #http: HttpCaller;
  readonly #socketClass: WebSocketConstructor;
  readonly #followers = new Set<SocketFollower>();
  readonly #byChannel = new Map<number, SocketFollower>();
  readonly #pending = new Map<number, Pending>();
  #socket: WebSocketLike | undefined;
  /** Requests to be sent once connected. */
  #waiting: string[] = [];
  #ids = 0;
  #tries = 0;
  #closed = false;
  #timer: Timer | undefined;

  constructor(http: HttpCaller, options: SocketOptions) {
    this.#http = http;
    const socketClass = options.WebSocket ?? (globalThis as { WebSocket?: WebSocketConstructor }).WebSocket;
    if (socketClass === undefined) {
      throw new TmuxwireError("INVALID_ARGUMENT", "no global WebSocket: pass one, such as that of the ws package");
    }
    this.#socketClass = socketClass;
    this.#connect();
  }

  /** Follows a pane. Many panes share the connection, but each pane can be followed only once at a time. */
  follow(
    server: string,
    pane: number | string,
    options: SocketFollowOptions = {},
  ): AsyncGenerator<PaneEvent, void, void> {
    const follower = new SocketFollower({
      server,
      pane: String(pane),
      options,
      credit: (channel, bytes) => this.#post({ type: "credit", channel, bytes }),
      onEnd: (ended, channel) => {
        this.#followers.delete(ended);
        if (channel === undefined) return;
        this.#byChannel.delete(channel);
        this.#post({ type: "unsubscribe", id: this.#nextId(), channel });
      },
    });
    this.#followers.add(follower);
    void this.#subscribe(follower);
    return follower.events();
  }

  /**
   * Types the parts as one job; with `profile` only for that program, refused if another reads from the pane.
   * @throws TmuxwireError; after DAEMON_UNREACHABLE the input may or may not have arrived
   */
  async input(
    server: string,
    pane: number | string,
    parts: NativeInputPart[],
    { profile }: { readonly profile?: string | undefined } = {},
  ): Promise<{ readonly position: string }> {
    const response = await this.#ask({ type: "input", id: this.#nextId(), server, pane: String(pane), parts, profile });
    return { position: "position" in response ? (response.position ?? "") : "" };
  }

  async resize(server: string, pane: number | string, cols: number, rows: number): Promise<void> {
    await this.#ask({ type: "resize", id: this.#nextId(), server, pane: String(pane), cols, rows });
  }

  /** Ends every stream. Safe to call twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.cancel();
    const lost = new TmuxwireError("CANCELLED", "the client closed its connection");
    for (const follower of this.#followers) follower.fail(lost);
    this.#followers.clear();
    this.#rejectPending(lost);
    this.#socket?.close();
  }

  #connect(): void {
    const { url, token } = this.#http;
    const protocols = [STREAM_PROTOCOL, ...(token === undefined ? [] : [`${STREAM_BEARER_PREFIX}${token}`])];
    const socket = new this.#socketClass(`${url.replace(/^http/, "ws")}/v1/stream`, protocols);
    socket.binaryType = "arraybuffer";
    this.#socket = socket;
    socket.addEventListener("open", () => {
      this.#tries = 0;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const message of waiting) socket.send(message);
    });
    socket.addEventListener("message", ({ data }) => {
      if (socket === this.#socket) this.#message(data);
    });
    // A `close` event follows.
    socket.addEventListener("error", () => undefined);
    socket.addEventListener("close", () => {
      if (socket === this.#socket) this.#lost();
    });
  }

  #lost(): void {
    this.#socket = undefined;
    this.#byChannel.clear();
    this.#waiting = [];
    this.#rejectPending(
      new TmuxwireError("DAEMON_UNREACHABLE", "the connection was lost; check the pane before you type again", {
        details: { delivery: "indeterminate" },
      }),
    );
    if (this.#closed) return;
    for (const follower of this.#followers) {
      if (follower.isResumed) continue;
      this.#followers.delete(follower);
      follower.fail(new TmuxwireError("DAEMON_UNREACHABLE", "the stream was cut"));
    }
    this.#timer = after(retryDelayMs(this.#tries), () => {
      this.#connect();
      for (const follower of this.#followers) void this.#subscribe(follower);
    });
    this.#tries += 1;
  }

  async #subscribe(follower: SocketFollower): Promise<void> {
    const request = follower.request();
    try {
      await this.#ask({ type: "subscribe", id: this.#nextId(), ...request }, (message) => {
        if (message.type !== "subscribed") return;
        if (!this.#followers.has(follower)) {
          this.#post({ type: "unsubscribe", id: this.#nextId(), channel: message.channel });
          return;
        }
        this.#byChannel.set(message.channel, follower);
        follower.subscribed(message);
      });
    } catch (error) {
      if (error instanceof TmuxwireError && isPassing(error.code) && follower.isResumed) {
        // If our connection was lost, `#lost` subscribes again; if the daemon lost tmux, retry here.
        this.#subscribeLater(follower, retryDelayMs(this.#tries++));
        return;
      }
      this.#followers.delete(follower);
      follower.fail(error);
    }
  }

  /** Only on the current connection: the next one subscribes every follower itself. */
  #subscribeLater(follower: SocketFollower, delayMs: number): void {
    const socket = this.#socket;
    if (socket === undefined || this.#closed) return;
    after(delayMs, () => {
      if (this.#socket === socket && !this.#closed) void this.#subscribe(follower);
    });
  }

  /** @param onResponse runs in the same turn as the response, before any later frame is handled */
  #ask(
    request: StreamRequest & { readonly id: number },
    onResponse?: (message: StreamMessage) => void,
  ): Promise<StreamMessage> {
    return new Promise((resolve, reject) => {
      this.#pending.set(request.id, {
        resolve: (message) => {
          onResponse?.(message);
          resolve(message);
        },
        reject,
      });
      this.#post(request);
    });
  }

  #post(request: StreamRequest): void {
    if (this.#closed) return;
    const text = JSON.stringify(request);
    if (this.#socket?.readyState === OPEN) this.#socket.send(text);
    else if (request.type !== "credit") this.#waiting.push(text);
  }

  #message(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const frame = decodeStreamFrame(new Uint8Array(data));
      if (frame !== undefined) this.#byChannel.get(frame.channel)?.output(frame);
      return;
    }
    const message = JSON.parse(String(data)) as StreamMessage;
    if ("id" in message) {
      this.#responded(message.id, message);
      return;
    }
    // This client reads server events with `ServerClient.events`.
    if (message.type === "server-event") return;
    const follower = this.#byChannel.get(message.channel);
    if (message.type === "closed") this.#byChannel.delete(message.channel);
    follower?.message(message);
    // The daemon is stopping, or lost its server for good: the pane may come back.
    if (message.type === "closed" && follower?.isOpen === true) this.#subscribeLater(follower, retryDelayMs(0));
  }

  #responded(id: number | null, message: StreamMessage): void {
    const pending = this.#pending.get(id ?? -1);
    if (pending === undefined) return;
    this.#pending.delete(id ?? -1);
    if (message.type === "error") {
      const { code, details } = message;
      pending.reject(new TmuxwireError(code as TmuxwireError["code"], message.message, { details }));
    } else pending.resolve(message);
  }

  #rejectPending(error: TmuxwireError): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const { reject } of pending) reject(error);
  }

  #nextId(): number {
    this.#ids += 1;
    return this.#ids;
  }
}
