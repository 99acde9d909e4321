/**
 * A `/ws` client's calls on sessions. An `sdk` session takes input from the connections that have created or attached to it,
 * and sends them its events; a `codingcli` session sends them to its creator.
 */
import type { SdkEvent, SessionServerMessage } from "../../../protocol/api/freshell/sessionEvents.ts";
import type { Once, OnceKey } from "../../../daemon/ops/once.ts";
import type { CodingNotice } from "../sessions/codingSession.ts";
import type { SdkSession } from "../sessions/sdkSession.ts";
import type { Session, SessionRegistry } from "../sessions/sessionRegistry.ts";
import type { ClientMessage, ClientMessageOf } from "../../../protocol/api/freshell/freshellWire.ts";
import type { CreateSessionRequest } from "../../../protocol/api/freshell/sessions.ts";
import type { CodingProvider } from "../../../protocol/api/freshell/sessionNames.ts";
import { SESSION_MESSAGES } from "../../../protocol/api/freshell/sessions.ts";
import { toAppError } from "../../../protocol/errors.ts";
import type { About, SocketClient } from "./socketClient.ts";

type SessionMessage = ClientMessageOf<keyof typeof SESSION_MESSAGES>;
type OfAttached = Exclude<SessionMessage, { type: "sdk.create" | "sdk.attach" | `codingcli.${string}` }>;

export const isOfSessions = (message: ClientMessage): message is SessionMessage =>
  Object.hasOwn(SESSION_MESSAGES, message.type);

interface SessionParts {
  readonly sessions: SessionRegistry;
  readonly creates: { readonly sessions: Once<Session> };
  /** As in `TerminalParts`. */
  readonly creator: string;
}

interface Followed {
  readonly listener: (notice: SessionNotice) => void;
  readonly stop: () => void;
}

export class SessionCalls {
  readonly #client: SocketClient;
  readonly #parts: SessionParts;
  /** By session. */
  readonly #followed = new Map<string, Followed>();
  #isClosed = false;

  constructor(client: SocketClient, parts: SessionParts) {
    this.#client = client;
    this.#parts = parts;
  }

  perform(message: SessionMessage): void {
    switch (message.type) {
      case "sdk.create":
        return void this.#createSdk(message);
      case "codingcli.create":
        return void this.#createCoding(message);
      case "sdk.attach":
        return this.#withSdk(message.sessionId, (session) => this.#attach(session));
      case "codingcli.input":
        return this.#input(message);
      case "codingcli.kill": {
        const { sessionId } = message;
        const session = this.#parts.sessions.find(sessionId);
        const success = session?.kind === "codingcli" && session.kill();
        return this.#client.send({ type: "codingcli.killed", sessionId, success });
      }
      case "sdk.send":
      case "sdk.interrupt":
      case "sdk.kill":
      case "sdk.permission.respond":
      case "sdk.set-model":
      case "sdk.set-permission-mode":
        return this.#withSdk(message.sessionId, (session) => this.#ofAttached(session, message));
    }
  }

  /** The sessions it follows continue. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const { stop } of this.#followed.values()) stop();
    this.#followed.clear();
  }

  #ofAttached(session: SdkSession, message: OfAttached): void {
    const { id: sessionId } = session;
    const listener = this.#followed.get(sessionId)?.listener;
    if (session.status === "exited") {
      if (message.type === "sdk.kill") this.#client.send({ type: "sdk.killed", sessionId, success: false });
      else this.#noSuchSession(sessionId, "the session has ended");
      return;
    }
    if (listener === undefined) {
      const text = "this connection has neither created the session nor attached to it; send sdk.attach first";
      this.#client.fail("UNAUTHORIZED", text, { sessionId });
      return;
    }
    switch (message.type) {
      case "sdk.send":
        return this.#settle(session.say(message.text, message.images, listener), { sessionId });
      case "sdk.interrupt":
        return this.#settle(session.interrupt(), { sessionId });
      case "sdk.permission.respond": {
        const { type: _type, sessionId: _session, ...answer } = message;
        return this.#settle(session.respond(answer, listener), { sessionId, requestId: answer.requestId });
      }
      case "sdk.set-model":
        return this.#settle(session.setModel(message.model), { sessionId });
      case "sdk.set-permission-mode":
        return this.#settle(session.setPermissionMode(message.permissionMode), { sessionId });
      case "sdk.kill":
        return this.#client.send({ type: "sdk.killed", sessionId, success: session.kill() });
    }
  }

  async #createSdk({ type: _type, requestId, ...options }: ClientMessageOf<"sdk.create">): Promise<void> {
    const asked = { provider: "sdk", ...options, ...this.#forgetting("sdk", options) } as const;
    const session = await this.#created([this.#parts.creator, "sdk", requestId], requestId, asked);
    if (session?.kind !== "sdk") return;
    this.#client.send({ type: "sdk.created", requestId, sessionId: session.id });
    // The program sends nothing before its first input; a page waits for this before it accepts any.
    this.#send(session, session.init());
    this.#follow(session);
    if (session.status === "exited") this.#sendEnd(session);
  }

  async #createCoding(message: ClientMessageOf<"codingcli.create">): Promise<void> {
    const { type: _type, requestId, provider: codingProvider, ...options } = message;
    const resume = this.#forgetting(codingProvider, options);
    const asked = { provider: "codingcli", codingProvider, ...options, ...resume } as const;
    const session = await this.#created([this.#parts.creator, "codingcli", requestId], requestId, asked);
    if (session?.kind !== "codingcli") return;
    this.#client.send({ type: "codingcli.created", requestId, sessionId: session.id, provider: codingProvider });
    this.#follow(session);
    // It was created before.
    if (session.status === "exited") this.#send(session, session.exit());
  }

  /** Undefined: it was refused, or the client has left. */
  async #created(key: OnceKey, requestId: string, asked: CreateSessionRequest): Promise<Session | undefined> {
    const { sessions, creates } = this.#parts;
    try {
      const session = await creates.sessions.run(key, "", () => sessions.create(asked));
      return this.#isClosed ? undefined : session;
    } catch (thrown) {
      const error = toAppError(thrown);
      // As upstream does, for its pages.
      const isProvider = error.details?.["reason"] === "provider";
      if (isProvider) this.#client.fail("INVALID_MESSAGE", error.message, { requestId });
      else this.#client.failed(error, { requestId });
      return undefined;
    }
  }

  #follow(session: Session): void {
    if (this.#followed.has(session.id) || session.status === "exited") return;
    const listener = (notice: SessionNotice): void => {
      this.#client.longFrame(frameOf(session, notice));
      if (notice.type === "sdk.exit" || notice.type === "codingcli.exit") this.#unfollow(session.id);
    };
    const stop = (session as { watch(listener: (notice: SessionNotice) => void): () => void }).watch(listener);
    this.#followed.set(session.id, { listener, stop });
  }

  #unfollow(sessionId: string): void {
    this.#followed.get(sessionId)?.stop();
    this.#followed.delete(sessionId);
  }

  #attach(session: SdkSession): void {
    const { id: sessionId } = session;
    this.#client.send({ type: "sdk.history", sessionId, messages: session.history.messages() });
    this.#send(session, session.init());
    if (session.status === "exited") {
      this.#sendEnd(session);
      return;
    }
    this.#send(session, { type: "sdk.status", status: session.status });
    for (const request of session.permissions()) this.#send(session, { type: "sdk.permission.request", ...request });
    this.#follow(session);
  }

  #sendEnd(session: SdkSession): void {
    this.#send(session, { type: "sdk.status", status: "exited" });
    this.#send(session, {
      type: "sdk.exit",
      ...(session.exitCode === undefined ? {} : { exitCode: session.exitCode }),
    });
  }

  #send(session: Session, notice: SessionNotice): void {
    this.#client.longFrame(frameOf(session, notice));
  }

  #input({ sessionId, data }: ClientMessageOf<"codingcli.input">): void {
    const session = this.#parts.sessions.find(sessionId);
    if (session?.kind === "codingcli") this.#settle(session.say(data), { sessionId });
    else this.#noSuchSession(sessionId);
  }

  #withSdk(sessionId: string, use: (session: SdkSession) => void): void {
    const session = this.#parts.sessions.find(sessionId);
    if (session?.kind === "sdk") use(session);
    else this.#noSuchSession(sessionId);
  }

  #noSuchSession(sessionId: string, message = "there is no such session; list the sessions again"): void {
    this.#client.fail("INVALID_SESSION_ID", message, { sessionId });
  }

  /** Pages send what they have kept, and go on without it. */
  #forgetting(
    of: "sdk" | CodingProvider,
    { resumeSessionId: id }: { readonly resumeSessionId?: string | undefined },
  ): { resumeSessionId?: undefined } {
    return id === undefined || this.#parts.sessions.isProgramsSession(of, id) ? {} : { resumeSessionId: undefined };
  }

  /** Reports only a failure. */
  #settle(work: Promise<unknown>, about: About): void {
    work.catch((thrown: unknown) => {
      const error = toAppError(thrown);
      // It has ended, or takes no input.
      if (error.code === "INVALID_TARGET") this.#client.fail("INVALID_SESSION_ID", error.message, about);
      else this.#client.failed(error, about);
    });
  }
}

type SessionNotice = SdkEvent | CodingNotice;

const encoded = new WeakMap<SessionNotice, Uint8Array>();

/** The frame of a notice to all followers. */
function frameOf(session: Session, notice: SessionNotice): Uint8Array {
  let frame = encoded.get(notice);
  if (frame === undefined) {
    frame = Buffer.from(JSON.stringify(messageOf(session, notice)));
    encoded.set(notice, frame);
  }
  return frame;
}

function messageOf({ id: sessionId, codingProvider: provider }: Session, notice: SessionNotice): SessionServerMessage {
  const { type, ...rest } = notice;
  const named = type.startsWith("codingcli.") ? { sessionId, provider } : { sessionId };
  return { type, ...named, ...rest } as SessionServerMessage;
}
