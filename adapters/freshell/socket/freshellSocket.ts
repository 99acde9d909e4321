/**
 * One connection of `/ws`: hello, then messages. An invalid message gets an error and has no other effect; a client that
 * does not read is disconnected, without effect on others. Input keeps its order: each terminal has one queue.
 */
import { isFields } from "../../../protocol/text/jsonObject.ts";
import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import type { Timer } from "../../../daemon/time/clock.ts";
import type { FreshellErrorCode } from "../../../protocol/api/freshell/freshellErrors.ts";
import {
  CLIENT_MESSAGES,
  type ClientMessage,
  type ClientMessageType,
  CLOSE_CODES,
  type HelloMessage,
  REQUIRED_CAPABILITIES,
  type ServerMessage,
} from "../../../protocol/api/freshell/freshellWire.ts";
import { faultText, tryParse } from "../../../protocol/api/parse.ts";
import { parseJsonText } from "../../kit/guard/jsonText.ts";
import { SocketWriter } from "../../kit/streams/websocket.ts";
import { CLOSE_WITHIN_MS, MAX_BUFFERED_BYTES, MAX_UNSENT_BYTES } from "../freshellLimits.ts";
import type { FreshellContext } from "../freshellContext.ts";
import { loggedFault } from "../freshellRequests.ts";
import type { Credentials, Principal } from "../tokens/credentials.ts";
import { isOfSessions, SessionCalls } from "./sessionCalls.ts";
import { isOfDevices, LayoutCalls } from "./layoutCalls.ts";
import type { About, SocketClient } from "./socketClient.ts";
import { TerminalCalls } from "./terminalCalls.ts";

/** Below this, snapshots sent count as read. */
const NEARLY_NOTHING_BYTES = 65_536;

/** Snapshots and histories. */
const WAS_ASKED_FOR = /^(?:terminal\.(?:attached|created)|sdk\.history)/;

/** Longest sign of life that is cached, since it repeats unchanged. */
const MAX_KEPT_CHARS = 1_024;

interface SocketHost {
  readonly context: FreshellContext;
  /** The listener already has its maximum of clients. */
  readonly isFull: boolean;
}

export class FreshellSocket {
  readonly #context: FreshellContext;
  readonly #socket: WebSocket;
  readonly #writer: SocketWriter;
  readonly #helloTimer: Timer;
  #closeTimer: Timer | undefined;
  #calls: TerminalCalls | undefined;
  #layout: LayoutCalls | undefined;
  #sessions: SessionCalls | undefined;
  #isClosing = false;
  #beat: { readonly text: string; readonly read: ReadMessage } | undefined;
  /** Unsent bytes of snapshots: they were requested, and do not count against a slow reader. */
  #allowance = 0;

  constructor({ context, isFull }: SocketHost, socket: WebSocket) {
    this.#context = context;
    this.#socket = socket;
    const { clock, settings } = context;
    this.#writer = new SocketWriter({
      socket,
      clock,
      onDrain: () => undefined,
      onStall: () => undefined,
      maxBufferedBytes: MAX_BUFFERED_BYTES,
    });
    const late = (): void => this.close(CLOSE_CODES.HELLO_TIMEOUT, "Hello timeout");
    this.#helloTimer = clock.callAt(clock.nowMs() + settings.helloTimeoutMs, late);
    if (isFull) this.close(CLOSE_CODES.MAX_CONNECTIONS, "Too many connections");
  }

  /** What it has typed counts as its pane's input from then on. */
  message(data: unknown): undefined {
    if (this.#isClosing) return;
    this.#writer.heard();
    this.#layout?.heard();
    const read = this.#read(data);
    if ("message" in read && read.message.type === "ping") {
      this.#send({ type: "pong", timestamp: this.#timestamp() });
    } else if (this.#calls === undefined) {
      this.#beforeHello(read);
    } else if ("bad" in read) {
      const { code, message, requestId } = read.bad;
      this.#fail(code, message, { requestId });
    } else this.#perform(this.#calls, read.message, read.json);
  }

  /** A device's sign of life is the same text each time, so it is parsed once. */
  #read(data: unknown): ReadMessage {
    const known = this.#beat;
    if (known !== undefined && data === known.text) return known.read;
    const read = readMessage(data);
    const isBeat = "message" in read && read.message.type === "device.presence";
    if (isBeat && typeof data === "string" && data.length <= MAX_KEPT_CHARS) this.#beat = { text: data, read };
    return read;
  }

  /** Closes with a reason, and cuts off a client that does not complete the close. Safe to call twice. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#release();
    this.#socket.close(code, reason);
    const { clock } = this.#context;
    this.#closeTimer = clock.callAt(clock.nowMs() + CLOSE_WITHIN_MS, () => this.#socket.terminate());
  }

  /** The connection is gone. Safe to call twice. */
  closed(): void {
    this.#isClosing = true;
    this.#closeTimer?.cancel();
    this.#release();
  }

  #release(): void {
    this.#helloTimer.cancel();
    this.#writer.close();
    this.#calls?.close();
    this.#layout?.close();
    this.#sessions?.close();
  }

  #beforeHello(read: ReadMessage): void {
    if ("bad" in read && read.bad.code === "INVALID_MESSAGE") {
      this.#fail("INVALID_MESSAGE", read.bad.message, { requestId: read.bad.requestId });
      return;
    }
    if (!("message" in read) || read.message.type !== "hello") {
      this.#fail("NOT_AUTHENTICATED", "say hello first");
      this.close(CLOSE_CODES.NOT_AUTHENTICATED, "Not authenticated");
      return;
    }
    const checked = checkHello(read.message, this.#context.credentials);
    if ("refused" in checked) {
      const { code, message, details } = checked.refused;
      this.#fail(code, message, { details });
      this.close(CLOSE_CODES[code], code);
      return;
    }
    this.#admit(checked);
  }

  #admit({ device, principal, wantsChunks }: Admitted): void {
    this.#helloTimer.cancel();
    const context = this.#context;
    const { settings, instanceId } = context;
    const client: SocketClient = {
      context,
      principal,
      device,
      creator: device === undefined ? `connection ${randomUUID()}` : `device ${device.deviceId}`,
      chunkBytes: wantsChunks ? settings.maxAttachChunkBytes : undefined,
      isOpen: () => !this.#isClosing && this.#socket.readyState === this.#socket.OPEN,
      send: (message) => this.#send(message),
      frame: (frame) => this.#write(frame),
      longFrame: (frame) => this.#writeWhole(frame),
      fail: (code, message, about) => this.#fail(code, message, about),
      failed: (thrown, about) => this.#failed(thrown, about),
      faultOf: (thrown) => this.#faultOf(thrown),
      close: (code, reason) => this.close(code, reason),
    };
    this.#calls = new TerminalCalls(client);
    this.#sessions = new SessionCalls(client);
    const { presenceTtlMs } = settings;
    const isOwner = device?.role === "owner";
    const online = isOwner || context.layout.presence.find(device?.deviceId ?? "")?.owner !== undefined;
    this.#send({
      type: "ready",
      timestamp: this.#timestamp(),
      serverInstanceId: instanceId,
      presenceTtlMs,
      heartbeatIntervalMs: Math.max(1, Math.floor(presenceTtlMs / 3)),
      ...(device === undefined ? {} : { device: { deviceId: device.deviceId, role: device.role, online } }),
    });
    // Only after `ready`.
    this.#layout = new LayoutCalls(client);
  }

  #perform(calls: TerminalCalls, message: ClientMessage, json: unknown): void {
    try {
      if (message.type === "hello") this.#fail("INVALID_MESSAGE", "hello was said already");
      else if (isOfDevices(message)) this.#layout?.perform(message, json);
      else if (isOfSessions(message)) this.#sessions?.perform(message);
      else if (message.type !== "ping") calls.perform(message);
    } catch (thrown) {
      this.#failed(thrown, { requestId: "requestId" in message ? message.requestId : undefined });
    }
  }

  #fail(code: FreshellErrorCode, message: string, about: About = {}): void {
    const { terminalId, sessionId } = about;
    const ids = {
      ...(terminalId === undefined ? {} : { terminalId: echoedId(terminalId) }),
      ...(sessionId === undefined ? {} : { sessionId: echoedId(sessionId) }),
    };
    this.#send({ type: "error", code, message, ...about, ...ids, timestamp: this.#timestamp() });
  }

  #failed(thrown: unknown, about: About): void {
    const { code, message, details } = this.#faultOf(thrown);
    this.#fail(code, message, { ...about, details });
  }

  #faultOf(thrown: unknown): ReturnType<typeof loggedFault> {
    return loggedFault(thrown, this.#context.log, "freshell.socket.failed");
  }

  #timestamp(): string {
    return new Date(this.#context.nowUnixMs()).toISOString();
  }

  #send(message: ServerMessage): void {
    const text = Buffer.from(JSON.stringify(message));
    if (WAS_ASKED_FOR.test(message.type)) this.#allowance += text.length;
    this.#write(text);
  }

  /** One line of a program may exceed the limit of unsent bytes: a client that keeps up gets an allowance for it. */
  #writeWhole(frame: Uint8Array): void {
    if (this.#socket.bufferedAmount < NEARLY_NOTHING_BYTES) this.#allowance = frame.length;
    this.#write(frame);
  }

  #write(frame: Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#writer.text(frame);
    const { bufferedAmount } = this.#socket;
    if (bufferedAmount < NEARLY_NOTHING_BYTES) this.#allowance = 0;
    else if (bufferedAmount > MAX_UNSENT_BYTES + this.#allowance) {
      this.close(CLOSE_CODES.BACKPRESSURE, "Backpressure");
    }
  }
}

interface BadMessage {
  readonly code: "INVALID_MESSAGE" | "UNKNOWN_MESSAGE";
  readonly message: string;
  readonly requestId?: string | undefined;
}

/** `json` is the message as received, including what its schema ignores. */
type ReadMessage = { readonly message: ClientMessage; readonly json: unknown } | { readonly bad: BadMessage };

const bad = (code: BadMessage["code"], message: string, requestId?: string): ReadMessage => ({
  bad: { code, message, ...(requestId === undefined ? {} : { requestId }) },
});

function readMessage(data: unknown): ReadMessage {
  if (typeof data !== "string") return bad("INVALID_MESSAGE", "messages are JSON in text frames, not binary");
  let json: unknown;
  try {
    json = parseJsonText(data);
  } catch {
    return bad("INVALID_MESSAGE", "the message is no JSON, or nested too deep");
  }
  if (!isFields(json)) return bad("INVALID_MESSAGE", "a message is an object with a type");
  const { type, requestId } = json;
  const known = typeof requestId === "string" && requestId.length <= MAX_ECHOED_CHARS ? requestId : undefined;
  if (typeof type !== "string") return bad("INVALID_MESSAGE", "a message is an object with a type", known);
  if (!isKnown(type)) return bad("UNKNOWN_MESSAGE", "there is no such message here", known);
  const parsed = tryParse(CLIENT_MESSAGES[type], json);
  if (parsed.success) return { message: parsed.output, json };
  return bad("INVALID_MESSAGE", faultText(parsed.issue.message, parsed.path), known);
}

const MAX_ECHOED_CHARS = 256;
/** An id as it may be sent back: a client finds out by it which of its messages failed, and it may have sent anything. */
const echoedId = (id: string): string => id.replaceAll(/\p{C}/gu, "").slice(0, MAX_ECHOED_CHARS);
const isKnown = (type: string): type is ClientMessageType => Object.hasOwn(CLIENT_MESSAGES, type);
interface Admitted {
  readonly principal: Principal;
  readonly device: HelloMessage["device"];
  /** Large snapshots in chunks. */
  readonly wantsChunks: boolean;
}

interface Refused {
  /** Of the error and of the close. */
  readonly code: "NOT_AUTHENTICATED" | "PROTOCOL_MISMATCH";
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/**
 * Admission to `/ws`: the first message is a hello with a valid token and the required capabilities, checked in this order:
 * shape, token, capabilities. An older client is refused, with the names of the capabilities it lacks.
 */
function checkHello(hello: HelloMessage, credentials: Credentials): Admitted | { readonly refused: Refused } {
  const principal = credentials.principalOf(hello.token);
  if (principal === undefined) {
    const message = "the token is missing, wrong or has expired; send the right one with hello";
    return { refused: { code: "NOT_AUTHENTICATED", message } };
  }
  const { capabilities = {}, device } = hello;
  const missing = REQUIRED_CAPABILITIES.filter((name) => capabilities[name] !== true);
  if (missing.length > 0) {
    const message = `this client is of another version: hello must have the capabilities ${missing.join(", ")}`;
    return { refused: { code: "PROTOCOL_MISMATCH", message, details: { missing } } };
  }
  if (principal.kind === "device" && device !== undefined && device.deviceId !== principal.deviceId) {
    const message = "the token is another device's; log in with this one";
    return { refused: { code: "NOT_AUTHENTICATED", message } };
  }
  return { principal, device, wantsChunks: capabilities["terminalAttachChunkV1"] === true };
}
