/**
 * One session of either kind: its program, its text, its subscribers and its end. Subscribers do not keep it alive, and
 * it continues when they leave.
 */
import { constants } from "node:os";
import { PaneStream } from "../../../daemon/panes/paneStream.ts";
import type { Timed } from "../../../daemon/time/clock.ts";
import { type ExitStatus, shellStatusOf } from "../../../daemon/tmux/outputSource.ts";
import type { SessionEntry, SessionStatus } from "../../../protocol/api/freshell/sessionEvents.ts";
import type { CodingProvider, SessionKind } from "../../../protocol/api/freshell/sessionNames.ts";
import { AppError } from "../../../protocol/errors.ts";
import { DEFAULT_RING_BYTES } from "../../../protocol/limits.ts";
import { given, type JsonLine } from "../../agents/jsonFields.ts";
import { TEXT_PART_BYTES } from "../freshellLimits.ts";
import { type ProgramPlan, SessionProgram } from "./sessionProgram.ts";

/** All that starting a session needs, found and checked. */
export interface SessionPlan extends ProgramPlan {
  readonly id: string;
  readonly epoch: string;
  readonly codingProvider: CodingProvider;
  readonly model: string | undefined;
}

export interface SessionHost extends Timed {
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
    this.id = plan.id;
    this.codingProvider = plan.codingProvider;
    this.cwd = plan.cwd;
    this.model = plan.model;
    this.createdAt = host.nowUnixMs();
    this.#updatedAt = this.createdAt;
    const { onListenerError } = host;
    this.text = new SessionText({
      id: `session:${kind}:${plan.id}`,
      epoch: plan.epoch,
      retainBytes: DEFAULT_RING_BYTES,
      onListenerError,
    });
    this.program = new SessionProgram(plan, host.clock, {
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
    return shellStatusOf(this.#exit);
  }

  /** Why it ended, unless somebody ended it: how, and the end of its standard error. Foreign text. */
  get failure(): string | undefined {
    return this.#failure;
  }

  entry(): SessionEntry {
    const { kind, codingProvider, id, createdAt, cwd, model, cliSessionId, exitCode, failure, openPermissions } = this;
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
      bufferRef: { outputSeq: this.text.outputSeq, tailSeq: this.text.tailSeq },
    });
  }

  /** Returns the function that unsubscribes. */
  watch(listener: (event: Event) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

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
    this.text.close(new AppError("NOT_FOUND", "the session has ended and is no longer kept"));
    this.#listeners.clear();
  }

  protected abstract line(line: JsonLine): void;
  protected abstract badLine(what: string): void;
  protected abstract errors(words: string): void;
  /** @param why set when the program failed */
  protected abstract over(why: string | undefined): void;

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
    this.over(this.#failure);
    this.host.onEnded();
  }
}

function endOf({ exitCode, signal }: ExitStatus): string {
  if (exitCode !== undefined) return `the program ended with ${exitCode}`;
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  return name === undefined ? "the program could not be started" : `the program was killed by ${name}`;
}

/**
 * What a session prints, as one stream of text that waits read like a pane's output: the program's words as they come,
 * a line `$ NAME` for each tool call, and what tools returned. `outputSeq` counts its bytes.
 */
export class SessionText extends PaneStream {
  #isAtLineStart = true;

  /** Appends to the text. Subscribers are notified by `announce`. */
  write(text: string): void {
    if (text === "") return;
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; at += TEXT_PART_BYTES) this.take(bytes.subarray(at, at + TEXT_PART_BYTES));
    this.#isAtLineStart = text.endsWith("\n");
  }

  endLine(): void {
    if (!this.#isAtLineStart) this.write("\n");
  }

  /** One or more lines of their own. */
  line(text: string): void {
    if (text === "") return;
    this.endLine();
    this.write(text);
    this.endLine();
  }

  /** A tool call as one line; a name is a program's, and may hold anything. */
  toolCall(name: string): void {
    this.line(`$ ${name.replaceAll(/\p{Cc}+/gu, " ")}`);
  }

  /** The last line is ended first. */
  override declareExit(status: ExitStatus): void {
    if (this.exit === undefined) this.endLine();
    super.declareExit(status);
  }
}
