/**
 * A `/ws` client's calls on sessions. An `sdk` session takes input from the connections that have created or attached to it,
 * and sends them its events; a `codingcli` session sends them to its creator.
 */
import type { SdkEvent, SessionServerMessage } from "../../../protocol/api/freshell/sessionEvents.ts";
import type { CodingSession, CodingNotice } from "../sessions/codingSession.ts";
import type { SdkSession } from "../sessions/sdkSession.ts";
import type { Session } from "../sessions/sessionBook.ts";
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

export class SessionCalls {
  readonly #client: SocketClient;
  /** By session: the function that stops following. */
  readonly #followed = new Map<
    string,
    { readonly listener: (notice: SessionNotice) => void; readonly stop: () => void }
  >();
  #isClosed = false;

  constructor(client: SocketClient) {
    this.#client = client;
  }

  perform(message: SessionMessage): void {
    switch (message.type) {
      case "sdk.create":
        void this.#createSdk(message);
        return;
      case "codingcli.create":
        void this.#createCoding(message);
        return;
      case "sdk.attach":
        this.#withSdk(message.sessionId, (session) => this.#attach(session));
        return;
      case "codingcli.input":
        this.#input(message);
        return;
      case "codingcli.kill": {
        const { sessionId } = message;
        const session = this.#client.context.sessions.find(sessionId);
        const success = session?.kind === "codingcli" && session.kill();
        this.#client.send({ type: "codingcli.killed", sessionId, success });
        return;
      }
      case "sdk.send":
      case "sdk.interrupt":
      case "sdk.kill":
      case "sdk.permission.respond":
      case "sdk.set-model":
      case "sdk.set-permission-mode":
        this.#withSdk(message.sessionId, (session) => this.#ofAttached(session, message));
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
        this.#settle(session.say(message.text, message.images, listener), { sessionId });
        return;
      case "sdk.interrupt":
        this.#settle(session.interrupt(), { sessionId });
        return;
      case "sdk.permission.respond": {
        const { type: _type, sessionId: _session, ...answer } = message;
        this.#settle(session.respond(answer, listener), { sessionId, requestId: answer.requestId });
        return;
      }
      case "sdk.set-model":
        this.#settle(session.setModel(message.model), { sessionId });
        return;
      case "sdk.set-permission-mode":
        this.#settle(session.setPermissionMode(message.permissionMode), { sessionId });
        return;
      case "sdk.kill":
        this.#client.send({ type: "sdk.killed", sessionId, success: session.kill() });
    }
  }

  async #createSdk({ type: _type, requestId, ...options }: ClientMessageOf<"sdk.create">): Promise<void> {
    await this.#create(
      requestId,
      "sdk",
      { provider: "sdk", ...options, ...this.#forgetting("sdk", options) },
      (session) => {
        const { id: sessionId } = session;
        this.#client.send({ type: "sdk.created", requestId, sessionId });
        // The program sends nothing before its first input; a page waits for this before it accepts any.
        this.#send(session, (session as SdkSession).init());
        this.#follow(session);
        if (session.status === "exited") this.#sendEnd(session as SdkSession);
      },
    );
  }

  async #createCoding(message: ClientMessageOf<"codingcli.create">): Promise<void> {
    const { type: _type, requestId, provider: codingProvider, ...options } = message;
    const resume = this.#forgetting(codingProvider, options);
    await this.#create(
      requestId,
      "codingcli",
      { provider: "codingcli", codingProvider, ...options, ...resume },
      (session) => {
        this.#client.send({ type: "codingcli.created", requestId, sessionId: session.id, provider: codingProvider });
        this.#follow(session);
      },
    );
  }

  async #create(
    requestId: string,
    kind: string,
    asked: CreateSessionRequest,
    created: (session: Session) => void,
  ): Promise<void> {
    const { context, creator, fail, failed } = this.#client;
    const { sessions, sessionCreates } = context;
    try {
      const session = await sessionCreates.run([creator, kind, requestId], "", () => sessions.create(asked));
      if (!this.#isClosed) created(session);
    } catch (thrown) {
      const error = toAppError(thrown);
      // As upstream does, for its pages.
      if (error.details?.["reason"] === "provider") fail("INVALID_MESSAGE", error.message, { requestId });
      else failed(error, { requestId });
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
    this.#client.send({ type: "sdk.history", sessionId, messages: session.history() });
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
    const session = this.#client.context.sessions.find(sessionId);
    if (session?.kind === "codingcli") this.#settle((session as CodingSession).say(data), { sessionId });
    else this.#noSuchSession(sessionId);
  }

  #withSdk(sessionId: string, use: (session: SdkSession) => void): void {
    const session = this.#client.context.sessions.find(sessionId);
    if (session?.kind === "sdk") use(session as SdkSession);
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
    return id === undefined || this.#client.context.sessions.isProgramsSession(of, id)
      ? {}
      : { resumeSessionId: undefined };
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
