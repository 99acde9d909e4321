/**
 * One session of either kind: its program, its text, its subscribers and its end. Subscribers do not keep it alive, and
 * it continues when they leave.
 */
import { constants } from "node:os";
import type { SessionEntry, SessionStatus } from "../../../protocol/api/freshell/sessionEvents.ts";
import type { CodingProvider, SessionKind } from "../../../protocol/api/freshell/sessionNames.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import type { ExitStatus } from "../../../daemon/tmux/outputSource.ts";
import { given, type JsonLine } from "../../agents/jsonFields.ts";
import { exitCodeOf } from "../terminals/terminal.ts";
import { SessionProgram } from "./sessionProgram.ts";
import { SessionText } from "./sessionText.ts";

/** All that starting a session needs, found and checked. */
export interface SessionPlan {
  readonly id: string;
  readonly epoch: string;
  readonly codingProvider: CodingProvider;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly hasInput: boolean;
  readonly model: string | undefined;
}

export interface SessionHost {
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly newId: () => string;
  /** A subscriber of a session threw. */
  readonly onListenerError: (error: unknown) => void;
  readonly onEnded: () => void;
}

export abstract class AgentSession<Event> {
  readonly id: string;
  readonly kind: SessionKind;
  readonly codingProvider: CodingProvider;
  readonly createdAt: number;
  readonly text: SessionText;
  protected readonly host: SessionHost;
  protected readonly program: SessionProgram;
  protected cwd: string;
  protected model: string | undefined;
  protected cliSessionId: string | undefined;
  #status: SessionStatus;
  #updatedAt: number;
  #exit: ExitStatus | undefined;
  #failure: string | undefined;
  #isKilled = false;
  readonly #listeners = new Set<(event: Event) => void>();

  protected constructor(kind: SessionKind, status: SessionStatus, plan: SessionPlan, host: SessionHost) {
    this.kind = kind;
    this.host = host;
    this.#status = status;
    const { id, epoch, codingProvider, cwd, model } = plan;
    this.id = id;
    this.codingProvider = codingProvider;
    this.cwd = cwd;
    this.model = model;
    this.createdAt = host.nowUnixMs();
    this.#updatedAt = this.createdAt;
    const { onListenerError } = host;
    this.text = new SessionText({ id: `session:${kind}:${id}`, epoch, onListenerError });
    this.program = new SessionProgram({
      ...plan,
      clock: host.clock,
      onLine: (line) => {
        this.#updatedAt = host.nowUnixMs();
        this.line(line);
      },
      onBadLine: (what) => this.badLine(what),
      onErrors: (words) => this.errors(words),
      onPause: () => this.text.announce(),
      onEnded: (exit) => this.#ended(exit),
    });
  }

  get status(): SessionStatus {
    return this.#status;
  }

  /** Whether this is our id or its program's own. */
  isCalled(id: string): boolean {
    return this.id === id || this.cliSessionId === id;
  }

  /** How many of its questions wait for a person. */
  protected get openPermissions(): number {
    return 0;
  }

  get exitCode(): number | undefined {
    return this.#exit === undefined ? undefined : exitCodeOf(this.#exit);
  }

  /** Why it ended, where nobody wanted that: how, and the end of its standard error. Foreign text. */
  get failure(): string | undefined {
    return this.#failure;
  }

  entry(): SessionEntry {
    const { kind, codingProvider, id, createdAt, cwd, model, cliSessionId, exitCode, openPermissions, text } = this;
    const { failure } = this;
    return given({
      provider: kind,
      codingProvider,
      sessionId: id,
      status: this.#status,
      createdAt,
      updatedAt: this.#updatedAt,
      cwd,
      model,
      cliSessionId,
      pid: this.program.pid ?? null,
      exitCode,
      failure,
      openPermissions,
      bufferRef: { outputSeq: text.outputSeq, tailSeq: text.tailSeq },
    });
  }

  /** Returns how to stop it. */
  watch(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Sends it a message. @throws AppError INVALID_TARGET, RESOURCE_LIMIT, COMMAND_TIMEOUT */
  abstract say(text: string): Promise<void>;

  /** Stops what it is doing. @throws AppError INVALID_TARGET */
  abstract interrupt(): Promise<void>;

  /** False: it has ended already. Its end is reported like any other. */
  kill(): boolean {
    if (this.#exit !== undefined) return false;
    this.#isKilled = true;
    this.program.end();
    return true;
  }

  /** Resolves once its program is gone. */
  get ended(): Promise<ExitStatus> {
    return this.program.ended;
  }

  /** This process is about to end: the program ends without us. */
  letGo(): void {
    this.#isKilled = true;
    this.program.letGo();
  }

  /** Nothing of it can be read any longer. The guard ends what is left of its group. */
  forget(): void {
    this.program.letGo();
    this.text.close(new AppError("NOT_FOUND", "the session has ended and is forgotten"));
    this.#listeners.clear();
  }

  protected abstract line(line: JsonLine): void;
  protected abstract badLine(what: string): void;
  protected abstract errors(words: string): void;
  /** @param why set when the program failed */
  protected abstract over(exitCode: number | undefined, why: string | undefined): void;

  /** False: it has that status already, or has ended. */
  protected turnTo(status: SessionStatus): boolean {
    if (this.#status === status || this.#status === "exited") return false;
    this.#status = status;
    return true;
  }

  protected tell(event: Event, except?: (event: Event) => void): void {
    for (const listener of this.#listeners) {
      if (listener === except) continue;
      try {
        listener(event);
      } catch (error) {
        this.host.onListenerError(error);
      }
    }
  }

  #ended(exit: ExitStatus): void {
    this.#exit = exit;
    this.#updatedAt = this.host.nowUnixMs();
    this.turnTo("exited");
    const { lastWords } = this.program;
    const isFailure = !this.#isKilled && exit.exitCode !== 0;
    this.#failure = isFailure ? `${endOf(exit)}${lastWords === "" ? "" : `: ${lastWords}`}` : undefined;
    this.text.declareExit(exit);
    this.over(this.exitCode, this.#failure);
    this.host.onEnded();
  }
}

function endOf({ exitCode, signal }: ExitStatus): string {
  if (exitCode !== undefined) return `the program ended with ${exitCode}`;
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  return name === undefined ? "the program could not be started" : `the program was killed by ${name}`;
}
