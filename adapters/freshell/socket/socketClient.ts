/**
 * The client of one `/ws` connection as its calls see it: messages and errors are sent through it. A client that does not read
 * is disconnected, without effect on others.
 */
import type { WebSocket } from "ws";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { Timer } from "../../../daemon/time/clock.ts";
import type {
  FreshellErrorCode,
  FreshellFault,
  OperationErrorCode,
} from "../../../protocol/api/freshell/freshellErrors.ts";
import { CLOSE_CODES, type ServerMessage } from "../../../protocol/api/freshell/freshellWire.ts";
import { SocketWriter } from "../../kit/streams/websocket.ts";
import { CLOSE_WITHIN_MS, MAX_BUFFERED_BYTES, MAX_UNSENT_BYTES } from "../freshellLimits.ts";
import { loggedFault } from "../freshellRequests.ts";

/** Below this, snapshots sent count as read. */
const NEARLY_NOTHING_BYTES = 65_536;
/** Snapshots and histories. */
const WAS_ASKED_FOR = /^(?:terminal\.(?:attached|created)|sdk\.history)/;
export const MAX_ECHOED_CHARS = 256;

/** What an error is about. */
export interface About {
  readonly requestId?: string | undefined;
  readonly terminalId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

interface SocketClientOptions extends Surroundings {
  /** Called once: nothing more is received. */
  readonly onClosing: () => void;
}

export class SocketClient {
  readonly #options: SocketClientOptions;
  readonly #socket: WebSocket;
  readonly #writer: SocketWriter;
  #isClosing = false;
  #closeTimer: Timer | undefined;
  /** Unsent bytes of snapshots: they were requested, and do not count against a slow reader. */
  #allowance = 0;

  constructor(socket: WebSocket, options: SocketClientOptions) {
    this.#options = options;
    this.#socket = socket;
    this.#writer = new SocketWriter({
      socket,
      clock: options.clock,
      onDrain: () => undefined,
      onStall: () => undefined,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
    });
  }

  /** Whether it takes any data. */
  get isOpen(): boolean {
    return !this.#isClosing && this.#socket.readyState === this.#socket.OPEN;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  get timestamp(): string {
    return new Date(this.#options.nowUnixMs()).toISOString();
  }

  /** It has sent something. */
  received(): void {
    this.#writer.received();
  }

  readonly send = (message: ServerMessage): void => {
    const text = Buffer.from(JSON.stringify(message));
    if (WAS_ASKED_FOR.test(message.type)) this.#allowance += text.length;
    this.frame(text);
  };

  /** Sends an encoded message. */
  frame(frame: Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#writer.text(frame);
    const { bufferedAmount } = this.#socket;
    if (bufferedAmount < NEARLY_NOTHING_BYTES) this.#allowance = 0;
    else if (bufferedAmount > MAX_UNSENT_BYTES + this.#allowance) {
      this.close(CLOSE_CODES.BACKPRESSURE, "Backpressure");
    }
  }

  /** The same for one that may exceed the limit of unsent bytes: a client that keeps up gets an allowance for it. */
  longFrame(frame: Uint8Array): void {
    if (this.#socket.bufferedAmount < NEARLY_NOTHING_BYTES) this.#allowance = frame.length;
    this.frame(frame);
  }

  fail(code: FreshellErrorCode, message: string, about: About = {}): void {
    const { terminalId, sessionId } = about;
    const ids = {
      ...(terminalId === undefined ? {} : { terminalId: echoedId(terminalId) }),
      ...(sessionId === undefined ? {} : { sessionId: echoedId(sessionId) }),
    };
    this.send({ type: "error", code, message, ...about, ...ids, timestamp: this.timestamp });
  }

  /** Sends anything thrown as an error. */
  failed(thrown: unknown, about: About): void {
    const { code, message, details } = this.faultOf(thrown);
    this.fail(code, message, { ...about, details });
  }

  /** What the client may see of anything thrown; a bug is logged. */
  faultOf(thrown: unknown): FreshellFault<OperationErrorCode> {
    return loggedFault(thrown, this.#options.log, "freshell.socket.failed");
  }

  /** Closes with a reason, and cuts off a client that does not complete the close. Safe to call twice. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#end();
    this.#socket.close(code, reason);
    const { clock } = this.#options;
    this.#closeTimer = clock.callAt(clock.nowMs() + CLOSE_WITHIN_MS, () => this.#socket.terminate());
  }

  /** The connection is gone. Safe to call twice. */
  closed(): void {
    this.#closeTimer?.cancel();
    if (!this.#isClosing) this.#end();
  }

  #end(): void {
    this.#isClosing = true;
    this.#writer.close();
    this.#options.onClosing();
  }
}

/** An id as it may be sent back: a client finds out by it which of its messages failed, and it may have sent anything. */
const echoedId = (id: string): string => id.replaceAll(/\p{C}/gu, "").slice(0, MAX_ECHOED_CHARS);
