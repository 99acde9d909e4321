/**
 * One connection of `/ws`: hello, then messages. An invalid message gets an error and has no other effect. Input keeps its
 * order: each terminal has one queue.
 */
import { randomUUID } from "node:crypto";
import type { WebSocket } from "ws";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import { Once, OnceMemory } from "../../../daemon/ops/once.ts";
import type { Clock, Timer } from "../../../daemon/time/clock.ts";
import {
  CLIENT_MESSAGES,
  type ClientMessage,
  type ClientMessageType,
  CLOSE_CODES,
  type HelloMessage,
  REQUIRED_CAPABILITIES,
} from "../../../protocol/api/freshell/freshellWire.ts";
import { faultText } from "../../../protocol/api/faultWords.ts";
import { tryParse } from "../../../protocol/api/parse.ts";
import { isFields } from "../../../protocol/text/jsonObject.ts";
import { parseJsonText } from "../../kit/guard/jsonText.ts";
import type { FreshellConfig } from "../freshellConfig.ts";
import { CREATES_KEPT_MS, MAX_CREATES_KEPT } from "../freshellLimits.ts";
import type { WaitParts } from "../freshellWaits.ts";
import type { LayoutRelay } from "../relay/layoutRelay.ts";
import type { Presence } from "../relay/presence.ts";
import type { Session } from "../sessions/sessionRegistry.ts";
import type { Terminal } from "../terminals/terminal.ts";
import type { Credentials, Principal } from "../tokens/credentials.ts";
import { isOfDevices, LayoutCalls } from "./layoutCalls.ts";
import type { FrameShare } from "./outputFrames.ts";
import { isOfSessions, SessionCalls } from "./sessionCalls.ts";
import { MAX_ECHOED_CHARS, SocketClient } from "./socketClient.ts";
import { TerminalCalls } from "./terminalCalls.ts";

/** What all connections share. */
export interface SocketParts extends WaitParts, Surroundings {
  readonly frames: FrameShare;
  readonly credentials: Credentials;
  readonly presence: Presence;
  readonly relay: LayoutRelay;
  readonly creates: ReturnType<typeof repeatedCreates>;
  readonly config: FreshellConfig;
  /** Of this start of the daemon. */
  readonly instanceId: string;
}

/**
 * Creates by device and requestId: a page that lost its connection does not know whether its terminal or session was
 * created. The id alone counts, whatever else the request says.
 */
export function repeatedCreates(clock: Clock) {
  const once = <Made>(): Once<Made> =>
    new Once({
      store: new OnceMemory({ maxEntries: MAX_CREATES_KEPT, keptMs: CREATES_KEPT_MS, nowMs: () => clock.nowMs() }),
    });
  return { terminals: once<Terminal>(), sessions: once<Session>() };
}

/** Longest sign of life that is cached, since it repeats unchanged. */
const MAX_KEPT_CHARS = 1_024;

export class FreshellSocket {
  readonly #parts: SocketParts;
  readonly #client: SocketClient;
  readonly #helloTimer: Timer;
  #terminals: TerminalCalls | undefined;
  #layout: LayoutCalls | undefined;
  #sessions: SessionCalls | undefined;
  #heartbeat: { readonly text: string; readonly read: ReadMessage } | undefined;

  constructor(parts: SocketParts, socket: WebSocket, isFull: boolean) {
    const { clock, nowUnixMs, log, config } = parts;
    this.#parts = parts;
    this.#client = new SocketClient(socket, { clock, nowUnixMs, log, onClosing: () => this.#release() });
    const late = (): void => this.close(CLOSE_CODES.HELLO_TIMEOUT, "Hello timeout");
    this.#helloTimer = clock.callAt(clock.nowMs() + config.helloTimeoutMs, late);
    if (isFull) this.close(CLOSE_CODES.MAX_CONNECTIONS, "Too many connections");
  }

  /** What it has typed counts as its pane's input from then on. */
  message(data: unknown): undefined {
    if (this.#client.isClosing) return;
    this.#client.received();
    this.#layout?.received();
    const read = this.#read(data);
    if ("message" in read && read.message.type === "ping") {
      this.#client.send({ type: "pong", timestamp: this.#client.timestamp });
    } else if (this.#terminals === undefined) this.#beforeHello(read);
    else if ("bad" in read) this.#refuse(read.bad);
    else this.#perform(this.#terminals, read.message, read.json);
  }

  /** A device's sign of life is the same text each time, so it is parsed once. */
  #read(data: unknown): ReadMessage {
    const known = this.#heartbeat;
    if (known !== undefined && data === known.text) return known.read;
    const read = readMessage(data);
    const isPresence = "message" in read && read.message.type === "device.presence";
    if (isPresence && typeof data === "string" && data.length <= MAX_KEPT_CHARS) this.#heartbeat = { text: data, read };
    return read;
  }

  /** Safe to call twice. */
  close(code: number, reason: string): void {
    this.#client.close(code, reason);
  }

  /** The connection is gone. Safe to call twice. */
  closed(): void {
    this.#client.closed();
  }

  #release(): void {
    this.#helloTimer.cancel();
    this.#terminals?.close();
    this.#layout?.close();
    this.#sessions?.close();
  }

  #beforeHello(read: ReadMessage): void {
    if ("bad" in read && read.bad.code === "INVALID_MESSAGE") {
      this.#refuse(read.bad);
      return;
    }
    if (!("message" in read) || read.message.type !== "hello") {
      this.#client.fail("NOT_AUTHENTICATED", "send hello first");
      this.close(CLOSE_CODES.NOT_AUTHENTICATED, "Not authenticated");
      return;
    }
    const checked = checkHello(read.message, this.#parts.credentials);
    if ("refused" in checked) {
      const { code, message, details } = checked.refused;
      this.#client.fail(code, message, { details });
      this.close(CLOSE_CODES[code], code);
      return;
    }
    this.#admit(checked);
  }

  #admit({ device, principal, wantsChunks }: Admitted): void {
    this.#helloTimer.cancel();
    const client = this.#client;
    const { config, instanceId, presence } = this.#parts;
    const creator = device === undefined ? `connection ${randomUUID()}` : `device ${device.deviceId}`;
    const chunkBytes = wantsChunks ? config.maxAttachChunkBytes : undefined;
    this.#terminals = new TerminalCalls(client, { ...this.#parts, creator, chunkBytes });
    this.#sessions = new SessionCalls(client, { ...this.#parts, creator });
    const { presenceTtlMs } = config;
    const online = device?.role === "owner" || presence.find(device?.deviceId ?? "")?.owner !== undefined;
    client.send({
      type: "ready",
      timestamp: client.timestamp,
      serverInstanceId: instanceId,
      presenceTtlMs,
      heartbeatIntervalMs: Math.max(1, Math.floor(presenceTtlMs / 3)),
      ...(device === undefined ? {} : { device: { deviceId: device.deviceId, role: device.role, online } }),
    });
    // Only after `ready`.
    const deviceId = device?.deviceId ?? (principal.kind === "device" ? principal.deviceId : undefined);
    this.#layout = new LayoutCalls(client, this.#parts, deviceId, device);
  }

  #perform(terminals: TerminalCalls, message: ClientMessage, json: unknown): void {
    try {
      if (message.type === "hello") this.#client.fail("INVALID_MESSAGE", "hello was sent already");
      else if (isOfDevices(message)) this.#layout?.perform(message, json);
      else if (isOfSessions(message)) this.#sessions?.perform(message);
      else if (message.type !== "ping") terminals.perform(message);
    } catch (thrown) {
      this.#client.failed(thrown, { requestId: "requestId" in message ? message.requestId : undefined });
    }
  }

  #refuse({ code, message, requestId }: BadMessage): void {
    this.#client.fail(code, message, { requestId });
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
  bad: { code, message, requestId },
});

function readMessage(data: unknown): ReadMessage {
  if (typeof data !== "string") return bad("INVALID_MESSAGE", "messages are JSON in text frames, not binary");
  let json: unknown;
  try {
    json = parseJsonText(data);
  } catch {
    return bad("INVALID_MESSAGE", "the message is not JSON, or nested too deeply");
  }
  if (!isFields(json)) return bad("INVALID_MESSAGE", "a message is an object with a type");
  const { type, requestId } = json;
  const known = typeof requestId === "string" && requestId.length <= MAX_ECHOED_CHARS ? requestId : undefined;
  if (typeof type !== "string") return bad("INVALID_MESSAGE", "a message is an object with a type", known);
  if (!isKnown(type)) return bad("UNKNOWN_MESSAGE", "unknown message type", known);
  const parsed = tryParse(CLIENT_MESSAGES[type], json);
  if (parsed.success) return { message: parsed.output, json };
  return bad("INVALID_MESSAGE", faultText(parsed.fault, "the message"), known);
}

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
    const message = "the token is missing, wrong or expired; send a valid one with hello";
    return { refused: { code: "NOT_AUTHENTICATED", message } };
  }
  const { capabilities = {}, device } = hello;
  const missing = REQUIRED_CAPABILITIES.filter((name) => capabilities[name] !== true);
  if (missing.length > 0) {
    const message = `this client is of another version: hello must have the capabilities ${missing.join(", ")}`;
    return { refused: { code: "PROTOCOL_MISMATCH", message, details: { missing } } };
  }
  if (principal.kind === "device" && device !== undefined && device.deviceId !== principal.deviceId) {
    const message = "the token belongs to another device; log in with this one";
    return { refused: { code: "NOT_AUTHENTICATED", message } };
  }
  return { principal, device, wantsChunks: capabilities["terminalAttachChunkV1"] === true };
}
