/**
 * WebSocket connections with bounds: message size, messages in progress, buffered bytes, pings. The upgrade passes the
 * listener's guard like any request; this is what follows. A browser can send its token only as a subprotocol, so the
 * subprotocol we select is never the one with the token.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { upgradeWebSocket, type WebSocketServerLike } from "@hono/node-server";
import type { Context } from "hono";
import type { WSEvents } from "hono/ws";
import type { WebSocket } from "ws";
import { WebSocketServer } from "ws";
import { alignedDeadline } from "../../../daemon/time/alignedDeadline.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import { bodyBudget } from "../guard/body.ts";
import { REQUEST_TIMEOUT_MS } from "../peers/httpLimits.ts";
import type { GuardEnv } from "../guard/requestGuard.ts";
import {
  STREAM_BUFFER_BYTES,
  STREAM_KEEP_ALIVE_MS,
  STREAM_MAX_BUFFERED_BYTES,
  STREAM_STALL_MS,
} from "./streamLimits.ts";
import type { SseOptions } from "./sseWriter.ts";

interface Connection {
  readonly socket: Socket;
  readonly messages: MessageLease;
}
const connections = new WeakMap<WebSocket, Connection>();

/** For `ListenOptions.websocket`. */
export interface WebSocketRoutes {
  readonly server: WebSocketServerLike;
  /** The paths of WebSocket routes; elsewhere an upgrade is ignored. */
  readonly paths: ReadonlySet<string>;
}

interface WebSocketOptions {
  readonly paths: readonly string[];
  /** Undefined if none is required. */
  readonly protocol: string | undefined;
  readonly maxMessageBytes: number;
  readonly clock: Clock;
}

export function createWebSocketServer({ paths, protocol, maxMessageBytes, clock }: WebSocketOptions): WebSocketRoutes {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: maxMessageBytes,
    // Compression costs more than sending over loopback, and takes 300 KiB per connection.
    perMessageDeflate: false,
    handleProtocols: (offered) => (protocol !== undefined && offered.has(protocol) ? protocol : false),
  });
  server.on("connection", (websocket: WebSocket, { socket }: IncomingMessage) =>
    connections.set(websocket, { socket, messages: new MessageLease(websocket, socket, clock) }),
  );
  // Both libraries use the same object; their typings differ in an optional member.
  return { server: server as unknown as WebSocketServerLike, paths: new Set(paths) };
}

/** Before a client's control frame (RFC 6455 §5.2): its head, and the mask. */
const CONTROL_FRAME_BYTES = 6;
/** RFC 6455 §7.4.1, IANA's registry: try again later. */
const CLOSE_TRY_AGAIN = 1_013;

/**
 * A connection's share of `bodyBudget`, counted from a message's first byte; without room the socket is not read. A message
 * that does not arrive in time, or gets no room, ends the connection, so that partial messages cannot take the whole budget.
 */
class MessageLease {
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #clock: Clock;
  /** Bytes held for the message that is arriving. */
  #heldBytes = 0;
  /** Bytes already read for which there was no room yet. */
  #owedBytes = 0;
  #withdraw: (() => void) | undefined;
  #late: Timer | undefined;

  constructor(websocket: WebSocket, socket: Socket, clock: Clock) {
    this.#websocket = websocket;
    this.#socket = socket;
    this.#clock = clock;
    // Called before the library parses a chunk into messages, and after.
    socket.prependListener("data", (chunk: Buffer) => {
      this.#owedBytes += chunk.length;
      this.#settle();
    });
    socket.on("data", () => {
      if (this.#heldBytes + this.#owedBytes > 0) this.#late ??= this.#lateness();
    });
    // What answers our pings is no message, and may be all that a client ever sends.
    const passed = ({ length }: Buffer): void => this.#passed(CONTROL_FRAME_BYTES + length);
    websocket.on("ping", passed);
    websocket.on("pong", passed);
    websocket.once("close", () => this.release(this.arrived()));
  }

  /** The bytes of the complete message, to be released once its response is sent. */
  arrived(): number {
    const bytes = this.#heldBytes;
    this.#heldBytes = 0;
    this.#owedBytes = 0;
    this.#late?.cancel();
    this.#late = undefined;
    this.#goOn();
    return bytes;
  }

  release(bytes: number): void {
    bodyBudget.release(this, bytes);
  }

  /** A control frame of so many bytes has come, perhaps in the middle of a message. */
  #passed(bytes: number): void {
    const held = Math.min(bytes, this.#heldBytes);
    this.#heldBytes -= held;
    this.#owedBytes -= Math.min(bytes - held, this.#owedBytes);
    this.release(held);
    if (this.#heldBytes + this.#owedBytes === 0) this.arrived();
  }

  #settle(): void {
    this.#withdraw = undefined;
    if (bodyBudget.hold(this, this.#owedBytes)) {
      this.#heldBytes += this.#owedBytes;
      this.#owedBytes = 0;
      this.#goOn();
      return;
    }
    if (!this.#websocket.isPaused) this.#websocket.pause();
    this.#withdraw = bodyBudget.onRelease(() => this.#settle());
  }

  #goOn(): void {
    this.#withdraw?.();
    this.#withdraw = undefined;
    if (this.#websocket.isPaused) this.#websocket.resume();
  }

  #lateness(): Timer {
    return this.#clock.callAt(this.#clock.nowMs() + REQUEST_TIMEOUT_MS, () => {
      this.#websocket.close(CLOSE_TRY_AGAIN, "the message took too long, or there was no room for it");
      this.#socket.destroySoon();
    });
  }
}

export interface SocketSession {
  /** A text message comes as text, a binary one as bytes. It counts against the budget until the promise settles. */
  message(data: string | Uint8Array): Promise<unknown> | undefined;
  /** Called when the connection is gone. */
  closed(): void;
}

/**
 * A route's response to an upgrade request; undefined if the request is not an upgrade to a WebSocket.
 * @param open makes the session; @param onError gets what `open` threw
 */
export function upgradeSocket(open: (socket: WebSocket) => SocketSession, onError: (error: unknown) => void) {
  const upgrade = upgradeWebSocket(() => socketEvents(open, onError), { onError });
  return async (c: Context<GuardEnv>): Promise<Response | undefined> =>
    c.env.outgoing === undefined ? ((await upgrade(c, async () => undefined)) ?? undefined) : undefined;
}

/**
 * The library makes an `Event` of each message, which costs as much as handling a short one, so messages are taken from the
 * socket itself, except those that arrived before it was handed over.
 */
function socketEvents(open: (socket: WebSocket) => SocketSession, onError: (error: unknown) => void): WSEvents {
  let session: SocketSession | undefined;
  const events: WSEvents = {
    onOpen: (_event, { raw }) => {
      const socket = raw as WebSocket;
      const opened = open(socket);
      session = opened;
      const messages = connections.get(socket)?.messages;
      const take = (data: string | Uint8Array): void => {
        const bytes = messages?.arrived() ?? 0;
        const release = (): void => messages?.release(bytes);
        let work: Promise<unknown> | undefined;
        try {
          work = opened.message(data);
        } catch (error) {
          onError(error);
        }
        if (work === undefined) release();
        else work.then(release, release);
      };
      events.onMessage = ({ data }) => take(typeof data === "string" ? data : new Uint8Array(data as ArrayBuffer));
      // Messages that arrived before are delivered within this turn.
      queueMicrotask(() => {
        delete events.onMessage;
      });
      socket.on("message", (data: Buffer, isBinary: boolean) => take(isBinary ? data : data.toString("utf8")));
    },
    onClose: () => session?.closed(),
  };
  return events;
}

interface SocketWriterOptions extends Pick<SseOptions, "clock" | "onDrain" | "stallMs" | "bufferBytes"> {
  readonly socket: WebSocket;
  readonly onStall: () => void;
  /** Default `STREAM_MAX_BUFFERED_BYTES`. */
  readonly maxBufferedBytes?: number | undefined;
}

/** Writes to one socket and checks that the peer reads. */
export class SocketWriter {
  readonly #options: SocketWriterOptions;
  readonly #socket: WebSocket;
  readonly #bufferBytes: number;
  readonly #flushed = (): void => this.#drained();
  readonly #connection: Socket | undefined;
  #gathering = false;
  #blocked = false;
  #stall: Timer | undefined;
  #heartbeat: Timer | undefined;
  #alive = true;
  /** The peer has sent something since the last heartbeat. */
  #received = false;
  #pingedMs = 0;

  constructor(options: SocketWriterOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#bufferBytes = options.bufferBytes ?? STREAM_BUFFER_BYTES;
    this.#connection = connections.get(this.#socket)?.socket;
    this.#socket.on("pong", () => {
      this.#alive = true;
    });
    this.#nextHeartbeat();
  }

  room(): number {
    const left = this.#bufferBytes - this.#socket.bufferedAmount;
    if (left <= 0) {
      this.#blocked = true;
      this.#stall ??= this.#watch(this.#socket.bufferedAmount);
    }
    return left;
  }

  binary(frame: Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#gather();
    this.#socket.send(frame, { binary: true }, this.#flushed);
  }

  /** Bytes: a message encoded once for all its subscribers. */
  text(message: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#gather();
    this.#socket.send(message, { binary: false }, this.#flushed);
    const { maxBufferedBytes = STREAM_MAX_BUFFERED_BYTES } = this.#options;
    if (this.#socket.bufferedAmount > maxBufferedBytes) this.#give();
  }

  /** Call when the peer has sent something: it is alive and needs no ping. */
  received(): void {
    this.#received = true;
  }

  /** Stops watching; the caller closes the socket. */
  close(): void {
    this.#stall?.cancel();
    this.#heartbeat?.cancel();
  }

  /** Makes one write per turn, because one chunk from tmux advances many panes. */
  #gather(): void {
    const connection = this.#connection;
    if (this.#gathering || connection === undefined) return;
    this.#gathering = true;
    connection.cork();
    process.nextTick(() => {
      this.#gathering = false;
      connection.uncork();
    });
  }

  #drained(): void {
    if (!this.#blocked || this.#socket.bufferedAmount > this.#bufferBytes / 2) return;
    this.#blocked = false;
    this.#stall?.cancel();
    this.#stall = undefined;
    this.#options.onDrain();
  }

  #watch(bufferedBytes: number): Timer {
    const { clock, stallMs } = this.#options;
    return clock.callAt(clock.nowMs() + (stallMs ?? STREAM_STALL_MS), () => {
      const now = this.#socket.bufferedAmount;
      if (now < bufferedBytes) this.#stall = this.#watch(now);
      else this.#give();
    });
  }

  #give(): void {
    this.#options.onStall();
    this.#socket.terminate();
  }

  /** A peer that has vanished, or does not read, sends no pong. */
  #nextHeartbeat(): void {
    const { clock, stallMs = STREAM_STALL_MS } = this.#options;
    const everyMs = Math.min(STREAM_KEEP_ALIVE_MS, stallMs);
    this.#heartbeat = clock.callAt(alignedDeadline(clock.nowMs() + everyMs, everyMs / 20), () => {
      if (this.#received) {
        this.#received = false;
        this.#alive = true;
      } else if (!this.#alive && clock.nowMs() - this.#pingedMs >= stallMs) {
        this.#give();
        return;
      } else if (this.#alive) {
        this.#alive = false;
        this.#pingedMs = clock.nowMs();
        this.#socket.ping();
      }
      this.#nextHeartbeat();
    });
  }
}
