/** All sessions: those that run, those that have ended and can still be read, and lookup by name. */
import {
  CODING_PROVIDERS,
  type CodingProvider,
  type SessionKind,
} from "../../../protocol/api/freshell/sessionNames.ts";
import type { CreateSessionRequest } from "../../../protocol/api/freshell/sessions.ts";
import { AppError, shuttingDown } from "../../../protocol/errors.ts";
import type { Surroundings } from "../../../daemon/ops/log.ts";
import type { AgentStream, AgentStreams } from "../../agents/agentStream.ts";
import type { SessionHost, SessionPlan } from "./agentSession.ts";
import { CodingSession } from "./codingSession.ts";
import { SdkSession } from "./sdkSession.ts";
import { ENDED_SESSION_KEPT_MS, MAX_ENDED_SESSIONS, MAX_SESSIONS } from "../freshellLimits.ts";

interface SessionRegistryOptions extends Surroundings {
  readonly newId: () => string;
  /** The epoch of all positions in sessions' texts. */
  readonly epoch: string;
  readonly streams: AgentStreams;
  /** Where its program and its directory are, and the program's whole environment. @throws AppError INVALID_ARGUMENT */
  readonly prepare: (
    name: CodingProvider,
    cwd: string | undefined,
  ) => Promise<Pick<SessionPlan, "file" | "cwd" | "env">>;
}

export type Session = SdkSession | CodingSession;

/** A kind, or a program, which means its `codingcli` sessions. */
type SessionOf = SessionKind | CodingProvider;

interface Kept {
  readonly session: Session;
  /** On the clock, once it has ended. */
  endedMs: number | undefined;
}

export class SessionRegistry {
  readonly #options: SessionRegistryOptions;
  readonly #sessions = new Map<string, Kept>();
  /** Sessions being created: they count as well. */
  #coming = 0;
  #isClosed = false;

  constructor(options: SessionRegistryOptions) {
    this.#options = options;
  }

  /** Everything is checked before anything is started. @throws AppError INVALID_ARGUMENT, RESOURCE_LIMIT, SHUTTING_DOWN */
  async create(asked: CreateSessionRequest): Promise<Session> {
    if (asked.provider === "sdk") {
      const { name, stream } = this.#conversing();
      const plan = { codingProvider: name, args: stream.conversationArgs?.(asked) ?? [], hasInput: true };
      return this.#make(plan, asked, (...made) => new SdkSession(...made));
    }
    const { codingProvider, keepStdinOpen: hasInput = false } = asked;
    const stream = this.#options.streams.get(codingProvider);
    if (stream === undefined) throw notSupported(codingProvider);
    const plan = { codingProvider, args: stream.promptArgs(asked), hasInput };
    return this.#make(plan, asked, (...made) => new CodingSession(...made, stream.parser()));
  }

  /** Oldest first. */
  list(of?: SessionOf): readonly Session[] {
    this.#forgetOld();
    const sessions = [...this.#sessions.values()].map(({ session }) => session);
    return of === undefined ? sessions : sessions.filter((session) => isOf(session, of));
  }

  /** @param id ours, or the program's own @throws AppError NOT_FOUND, AMBIGUOUS_TARGET */
  require(of: string, id: string): Session {
    const named = this.list().filter((session) => isOf(session, of) && session.isCalled(id));
    const [first] = named;
    if (first === undefined) {
      throw new AppError("NOT_FOUND", `there is no session ${of}:${id}; list the sessions`.slice(0, 300));
    }
    if (named.length > 1) {
      const matches = named.map(({ kind, id: own }) => `session:${kind}:${own}`);
      throw new AppError("AMBIGUOUS_TARGET", "several sessions continue this one; name one of them by its own id", {
        details: { matches },
      });
    }
    return first;
  }

  /** By our id alone. */
  find(id: string): Session | undefined {
    this.#forgetOld();
    return this.#sessions.get(id)?.session;
  }

  /** Whether an id may be one that the program gave a session of its own. */
  isProgramsSession(of: "sdk" | CodingProvider, id: string): boolean {
    const stream = of === "sdk" ? this.#conversing().stream : this.#options.streams.get(of);
    return stream?.isSession?.(id) ?? true;
  }

  runningCount(): number {
    return [...this.#sessions.values()].filter(({ endedMs }) => endedMs === undefined).length;
  }

  /** Every program ends, and nobody waits for it. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    for (const { session } of this.#sessions.values()) {
      session.letGo();
      session.text.close(shuttingDown());
    }
  }

  async #make(
    asked: Pick<SessionPlan, "codingProvider" | "args" | "hasInput">,
    { cwd, model }: CreateSessionRequest,
    make: (plan: SessionPlan, host: SessionHost) => Session,
  ): Promise<Session> {
    const { clock, nowUnixMs, newId, epoch, log, prepare } = this.#options;
    this.#requireRoom();
    this.#coming += 1;
    try {
      const prepared = await prepare(asked.codingProvider, cwd);
      if (this.#isClosed) throw shuttingDown();
      const id = newId();
      const onListenerError = (error: unknown): void => log.error("session.listener.failed", { error });
      const onEnded = (): void => this.#ended(id);
      const host = { clock, nowUnixMs, newId, onListenerError, onEnded };
      const session = make({ id, epoch, model, ...asked, ...prepared }, host);
      this.#sessions.set(id, { session, endedMs: undefined });
      log.info("session.started", { sessionId: id, kind: session.kind, program: asked.codingProvider });
      return session;
    } finally {
      this.#coming -= 1;
    }
  }

  /** The program of `sdk` sessions. */
  #conversing(): { readonly name: CodingProvider; readonly stream: AgentStream } {
    for (const name of CODING_PROVIDERS) {
      const stream = this.#options.streams.get(name);
      if (stream?.conversationArgs !== undefined) return { name, stream };
    }
    throw notSupported("sdk");
  }

  #requireRoom(): void {
    if (this.#isClosed) throw shuttingDown();
    if (this.runningCount() + this.#coming < MAX_SESSIONS) return;
    throw new AppError("RESOURCE_LIMIT", `${MAX_SESSIONS} sessions are running, the maximum: end one first`, {
      details: { limit: "sessions", max: MAX_SESSIONS },
    });
  }

  #ended(id: string): void {
    const kept = this.#sessions.get(id);
    if (kept === undefined) return;
    kept.endedMs = this.#options.clock.nowMs();
    const { exitCode = null } = kept.session;
    this.#options.log.info("session.ended", { sessionId: id, exitCode });
    this.#forgetOld();
  }

  /** On every access, so that no timer is needed. */
  #forgetOld(): void {
    const nowMs = this.#options.clock.nowMs();
    const ended = [...this.#sessions.values()]
      .filter((kept): kept is Kept & { endedMs: number } => kept.endedMs !== undefined)
      .toSorted((one, other) => one.endedMs - other.endedMs);
    const tooMany = Math.max(0, ended.length - MAX_ENDED_SESSIONS);
    for (const [at, { session, endedMs }] of ended.entries()) {
      if (at >= tooMany && nowMs - endedMs < ENDED_SESSION_KEPT_MS) continue;
      this.#sessions.delete(session.id);
      session.forget();
    }
  }
}

const isOf = ({ kind, codingProvider }: Session, of: string): boolean =>
  of === kind || (kind === "codingcli" && of === codingProvider);

const notSupported = (name: string): AppError =>
  new AppError("INVALID_ARGUMENT", `Provider not supported: ${name}`, { details: { reason: "provider" } });
