/**
 * A client's WebSocket, carried on to other machines: one connection to each daemon that it asks for something, over the link.
 * Requests keep their order and their ids, channels get numbers of this daemon's. When a connection is lost, each request
 * under way is told so, and each channel is closed with a code after which the client subscribes again.
 */
import { createConnection } from "node:net";
import { WebSocket } from "ws";
import {
  decodeStreamFrame,
  encodeStreamFrame,
  STREAM_BEARER_PREFIX,
  STREAM_MAX_CREDIT_BYTES,
  STREAM_PROTOCOL,
} from "../../protocol/api/native/nativeFrames.ts";
import type { StreamMessage, StreamRequest, StreamRequestOf } from "../../protocol/api/native/nativeStream.ts";
import type { OperationName } from "../../protocol/api/operationRoutes.ts";
import { AppError, toAppError } from "../../protocol/errors.ts";
import { OPERATIONS, operationNamed } from "../operations/operationTable.ts";
import { nameOn, withNames } from "./hostNames.ts";
import { renamedEvent } from "./hostStreams.ts";
import { mayRepeat, type RemoteHost } from "./remoteHost.ts";
import type { RemoteHosts } from "./remoteHosts.ts";

interface ClientSide {
  /** A number for a channel that no other has. */
  newChannel(): number;
  /** Bytes that may be written now. */
  room(): number;
  send(message: StreamMessage): void;
  binary(frame: Uint8Array): void;
  fail(id: number, error: AppError): void;
}

/** What waits until a connection is open, or the host takes it. */
const MAX_WAITING_CHARS = 4_194_304;
/** More than a grant of credit takes. */
const CREDIT_CHARS = 128;

export class HostSockets {
  readonly #hosts: RemoteHosts;
  readonly #client: ClientSide;
  readonly #sockets = new Map<RemoteHost, HostSocket>();

  constructor(hosts: RemoteHosts, client: ClientSide) {
    this.#hosts = hosts;
    this.#client = client;
  }

  /** False: the request is for this machine. @throws AppError NOT_FOUND, INVALID_ARGUMENT, RESOURCE_LIMIT */
  take(request: StreamRequest): boolean {
    if ("channel" in request) return this.#some((socket) => socket.onChannel(request));
    if (request.type === "cancel") return this.#some((socket) => socket.cancel(request));
    // Sent by itself, a call that may be repeated survives the loss of a connection.
    const operation = request.type === "call" ? operationNamed(request.operation) : undefined;
    if (operation !== undefined && mayRepeat(operation)) return false;
    const input = request.type === "call" ? request.input : undefined;
    const theirs = this.#hosts.find(request, operation, input);
    if (theirs === undefined) return false;
    const { host, names } = theirs;
    let socket = this.#sockets.get(host);
    if (socket === undefined) {
      const made = new HostSocket(host, this.#client, () => {
        if (this.#sockets.get(host) === made) this.#sockets.delete(host);
      });
      this.#sockets.set(host, made);
      socket = made;
    }
    socket.request(
      { ...request, ...names, ...(request.type === "call" ? { input: theirs.input } : {}) } as Named,
      operation,
    );
    return true;
  }

  /** The client takes more. */
  pump(): void {
    for (const socket of this.#sockets.values()) socket.pump();
  }

  /** What is under way gets this error; nothing more is taken. */
  finish(error: AppError): void {
    for (const socket of this.#sockets.values()) socket.finish(error);
  }

  /** Safe to call twice. */
  close(): void {
    for (const socket of this.#sockets.values()) socket.close();
    this.#sockets.clear();
  }

  #some(take: (socket: HostSocket) => boolean): boolean {
    return [...this.#sockets.values()].some(take);
  }
}

type Named = Exclude<StreamRequest, { readonly channel: number } | { readonly type: "cancel" }>;
type OnChannel = Extract<StreamRequest, { readonly channel: number }>;

class HostSocket {
  readonly #host: RemoteHost;
  readonly #client: ClientSide;
  readonly #onEnd: () => void;
  /** Requests without a response, and what the response is the output of. */
  readonly #pending = new Map<number, { readonly type: StreamRequest["type"]; readonly operation?: OperationName }>();
  /** The numbers there by those here, and the other way round. */
  readonly #theirs = new Map<number, number>();
  readonly #ours = new Map<number, number>();
  readonly #events = new Set<string>();
  /** What the client has granted to their channels and the host does not take yet. */
  readonly #credit = new Map<number, number>();
  #waiting: string[] = [];
  #waitingChars = 0;
  #socket: WebSocket | undefined;
  #isOver = false;

  constructor(host: RemoteHost, client: ClientSide, onEnd: () => void) {
    this.#host = host;
    this.#client = client;
    this.#onEnd = onEnd;
    void this.#connect();
  }

  /** @throws AppError RESOURCE_LIMIT */
  request(request: Named, operation: OperationName | undefined): void {
    this.#post(request);
    this.#pending.set(request.id, { type: request.type, ...(operation === undefined ? {} : { operation }) });
    if (request.type === "follow-events") this.#events.add(request.server);
    if (request.type === "unfollow-events") this.#events.delete(request.server);
  }

  onChannel(request: OnChannel): boolean {
    const channel = this.#theirs.get(request.channel);
    if (channel === undefined) return false;
    if (request.type === "credit") {
      this.#credit.set(channel, Math.min(STREAM_MAX_CREDIT_BYTES, (this.#credit.get(channel) ?? 0) + request.bytes));
      this.#grant();
      return true;
    }
    this.#post({ ...request, channel });
    if (request.type === "unsubscribe") {
      this.#pending.set(request.id, { type: request.type });
      this.#forget(request.channel, channel);
    }
    return true;
  }

  cancel(request: StreamRequestOf<"cancel">): boolean {
    if (!this.#pending.has(request.id)) return false;
    this.#post(request);
    return true;
  }

  pump(): void {
    if (this.#socket?.isPaused === true && this.#client.room() > 0) this.#socket.resume();
  }

  finish(error: AppError): void {
    this.#lost(error);
    this.#socket?.terminate();
  }

  close(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  async #connect(): Promise<void> {
    try {
      const { socketPath, host } = await this.#host.link.connection();
      if (this.#isOver) return;
      const { token } = host;
      const protocols = [STREAM_PROTOCOL, ...(token === undefined ? [] : [`${STREAM_BEARER_PREFIX}${token}`])];
      // A URL with the path in it would have another one where that has a blank or an umlaut.
      const socket = new WebSocket("ws://localhost/v1/stream", protocols, {
        perMessageDeflate: false,
        createConnection: () => createConnection(socketPath),
      });
      this.#socket = socket;
      socket.on("open", () => {
        const waiting = this.#waiting;
        this.#waiting = [];
        this.#waitingChars = 0;
        for (const text of waiting) this.#write(socket, text);
      });
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        try {
          if (isBinary) this.#frame(data);
          else this.#message(JSON.parse(data.toString()) as StreamMessage);
        } catch {
          // No message of this protocol.
          socket.terminate();
          return;
        }
        if (this.#client.room() <= 0) socket.pause();
      });
      // `close` follows.
      socket.on("error", () => undefined);
      socket.on("close", () => {
        if (!this.#isOver) void this.#host.probe();
        this.#lost(this.#host.lost("indeterminate"));
      });
    } catch (error) {
      this.#lost(toAppError(error));
    }
  }

  #lost(error: AppError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onEnd();
    for (const id of this.#pending.keys()) this.#client.fail(id, error);
    const { code, message } = error;
    for (const channel of this.#theirs.keys()) this.#client.send({ type: "closed", channel, code, message });
    for (const server of this.#events) {
      const event = { type: "closed", code, message } as const;
      this.#client.send({ type: "server-event", server: nameOn(this.#host.name, server), eventId: "", event });
    }
  }

  /** Credit has no response that would say that it was lost: it waits for room. */
  #grant(): void {
    for (const [channel, bytes] of this.#credit) {
      if (this.#unsentChars >= MAX_WAITING_CHARS - CREDIT_CHARS) return;
      this.#credit.delete(channel);
      this.#post({ type: "credit", channel, bytes });
    }
  }

  get #unsentChars(): number {
    return this.#waitingChars + (this.#socket?.bufferedAmount ?? 0);
  }

  #post(request: StreamRequest): void {
    const text = JSON.stringify(request);
    if (this.#unsentChars + text.length > MAX_WAITING_CHARS) {
      throw new AppError(
        "RESOURCE_LIMIT",
        `host ${JSON.stringify(this.#host.name)} takes nothing at the moment; wait for its responses`,
      );
    }
    if (this.#socket?.readyState === WebSocket.OPEN) {
      this.#write(this.#socket, text);
      return;
    }
    this.#waitingChars += text.length;
    this.#waiting.push(text);
  }

  #write(socket: WebSocket, text: string): void {
    socket.send(text, () => {
      if (!this.#isOver) this.#grant();
    });
  }

  #frame(data: Buffer): void {
    const frame = decodeStreamFrame(data);
    const channel = frame === undefined ? undefined : this.#ours.get(frame.channel);
    if (frame !== undefined && channel !== undefined)
      this.#client.binary(encodeStreamFrame(channel, frame.outputSeq, frame.bytes));
  }

  #message(message: StreamMessage): void {
    if (message.type === "server-event") {
      const server = nameOn(this.#host.name, message.server);
      const event = renamedEvent(message.event, this.#host.name) as typeof message.event;
      if (event.type === "closed") this.#events.delete(message.server);
      this.#client.send({ ...message, server, event });
      return;
    }
    if ("id" in message) {
      if (message.id !== null) this.#responded(message.id, message);
      return;
    }
    const channel = this.#ours.get(message.channel);
    if (channel === undefined) return;
    if (message.type === "closed") this.#forget(channel, message.channel);
    this.#client.send({ ...message, channel });
  }

  #responded(
    id: number,
    message:
      | Exclude<StreamMessage, { readonly channel: number }>
      | Extract<StreamMessage, { readonly type: "subscribed" }>,
  ): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const change = (name: string): string => nameOn(this.#host.name, name);
    if (message.type === "subscribed") {
      const channel = this.#client.newChannel();
      this.#ours.set(message.channel, channel);
      this.#theirs.set(channel, message.channel);
      this.#client.send({ ...message, channel, server: change(message.server) });
    } else if (message.type === "result" && pending.operation !== undefined) {
      const output = withNames(OPERATIONS[pending.operation].output, message.output, change) as object;
      this.#client.send({ ...message, output });
    } else this.#client.send(message);
  }

  #forget(ours: number, theirs: number): void {
    this.#credit.delete(theirs);
    this.#theirs.delete(ours);
    this.#ours.delete(theirs);
  }
}
