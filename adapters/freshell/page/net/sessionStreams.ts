/** The conversations that the page shows: each attached once, and again when the connection comes back. */
import type { ServerMessage } from "../../../../protocol/api/freshell/freshellWire.ts";
import type { SessionServerMessage } from "../../../../protocol/api/freshell/sessionEvents.ts";

type SdkMessage = Extract<SessionServerMessage, { readonly type: `sdk.${string}` }>;

interface SessionSink {
  message(message: SdkMessage): void;
  /** There is a connection again, and its history follows. */
  connected(): void;
  /** There is no such session. */
  gone(): void;
  refused(message: string): void;
}

export class SessionStreams {
  readonly #send: (message: object) => boolean;
  readonly #sinks = new Map<string, Set<SessionSink>>();

  constructor(send: (message: object) => boolean) {
    this.#send = send;
  }

  /** Returns the function that leaves. */
  join(sessionId: string, sink: SessionSink): () => void {
    const sinks = this.#sinks.get(sessionId) ?? new Set();
    this.#sinks.set(sessionId, sinks.add(sink));
    this.#attach(sessionId);
    return () => {
      sinks.delete(sink);
      if (sinks.size === 0 && this.#sinks.get(sessionId) === sinks) this.#sinks.delete(sessionId);
    };
  }

  /** False: no connection, nothing was sent. */
  send(sessionId: string, message: Readonly<Record<string, unknown>>): boolean {
    return this.#send({ ...message, sessionId });
  }

  ready(): void {
    for (const [sessionId, sinks] of this.#sinks) {
      for (const sink of sinks) sink.connected();
      this.#attach(sessionId);
    }
  }

  /** True: it was about a conversation that is shown. */
  handle(message: ServerMessage): boolean {
    if (message.type === "error") {
      const sinks = this.#sinks.get(String((message as { readonly sessionId?: unknown }).sessionId));
      for (const sink of sinks ?? []) {
        if (message.code === "INVALID_SESSION_ID") sink.gone();
        else sink.refused(message.message);
      }
      return sinks !== undefined;
    }
    if (!isOfSdk(message)) return false;
    const sinks = this.#sinks.get(message.sessionId);
    for (const sink of sinks ?? []) sink.message(message);
    return true;
  }

  #attach(sessionId: string): void {
    this.#send({ type: "sdk.attach", sessionId });
  }
}

const isOfSdk = (message: ServerMessage): message is SdkMessage => message.type.startsWith("sdk.");
