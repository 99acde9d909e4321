/** The servers whose events one WebSocket follows: each at most once, as fast as the connection takes them. */
import type { StreamMessage, StreamRequestOf as Of } from "../../protocol/api/native/nativeStream.ts";
import { AppError } from "../../protocol/errors.ts";
import type { NativeContext } from "./nativeContext.ts";
import { requireReadiness } from "../operations/panes/readinessAsked.ts";
import type { EventReader } from "../kit/streams/eventLog.ts";
import { requireAgents } from "../operations/agents/agentOperations.ts";
import { findServer } from "../operations/findTargets.ts";

interface SocketEventsSink {
  /** Bytes that may be written now. */
  room(): number;
  text(text: string): void;
}

export class SocketEvents {
  readonly #context: NativeContext;
  readonly #sink: SocketEventsSink;
  readonly #readers = new Map<string, EventReader>();

  constructor(context: NativeContext, sink: SocketEventsSink) {
    this.#context = context;
    this.#sink = sink;
  }

  /** @throws AppError NOT_FOUND, ALREADY_EXISTS, INVALID_ARGUMENT */
  follow({ id, server, after, readiness, agents }: Of<"follow-events">): void {
    const found = findServer(this.#context.servers, server);
    if (this.#readers.has(server))
      throw new AppError("ALREADY_EXISTS", `this connection already follows the events of ${server}`);
    if (readiness === true) requireReadiness(this.#context);
    if (agents === true) requireAgents(this.#context);
    const name = JSON.stringify(server);
    const reader = this.#context.eventsOf(found).open(
      {
        room: () => this.#sink.room(),
        // The event is already JSON.
        send: (_event, data, eventId) =>
          this.#sink.text(`{"type":"server-event","server":${name},"eventId":"${eventId}","event":${data}}`),
      },
      after,
      { readiness, agents },
    );
    this.#readers.set(server, reader);
    this.#send({ type: "ack", id });
    reader.pump();
  }

  unfollow({ id, server }: Of<"unfollow-events">): void {
    this.#readers.get(server)?.close();
    this.#readers.delete(server);
    this.#send({ type: "ack", id });
  }

  /** Called when there is room again. */
  pump(): void {
    for (const reader of this.#readers.values()) reader.pump();
  }

  /** Sends every follower the final `closed`. */
  finish({ code, message }: AppError): void {
    for (const server of this.#readers.keys())
      this.#send({ type: "server-event", server, eventId: "", event: { type: "closed", code, message } });
    this.close();
  }

  /** Safe to call twice. */
  close(): void {
    for (const reader of this.#readers.values()) reader.close();
    this.#readers.clear();
  }

  #send(message: StreamMessage): void {
    this.#sink.text(JSON.stringify(message));
  }
}
