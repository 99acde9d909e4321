/** One terminal: its identity, its program's present pane, and its output as one stream. */
import type { MadeFor, TerminalEntry, TerminalMode } from "../../../protocol/api/freshell/freshellHttp.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { ExitStatus } from "../../../daemon/tmux/outputSource.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TerminalSource } from "./terminalSource.ts";

/** What stays the same for a terminal's lifetime. */
export interface TerminalIdentity {
  readonly id: string;
  readonly createdAt: number;
  readonly mode: TerminalMode;
  /** As requested. */
  readonly shell: string;
  readonly cwd: string;
  readonly title: string;
  readonly resumeSessionId: string | undefined;
}

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export class Terminal {
  readonly identity: TerminalIdentity;
  /** Its id in the engine's feeds, which know panes; it stays when the pane changes. */
  readonly key: PaneId;
  readonly source: TerminalSource;
  /** Undefined once the pane was closed by somebody: no more output follows. */
  pane: PaneId | undefined;
  /** The pane's own process. */
  panePid: number | undefined;
  /** Undefined until it has begun, and where the host does not know it. What has outlived a kill stays here. */
  program: ProcessMark | undefined;
  generation: number;
  /** Stored in a pane option: `outputSeq` stays below it. */
  reservedSeq: number;
  size: TerminalSize;
  lastActivityAt: number;
  clients = 0;
  /** The pane that it was made or respawned for; it may be shown in another one since. */
  madeFor: MadeFor | undefined;
  /** Whether a device's pane shows it: `unsure` while one is being made, `orphan` once that has failed. */
  place: "unsure" | "orphan" | undefined;
  /** A kill is under way: what is typed now would be lost. */
  isEnding = false;
  /** It was killed and cannot be found any more. */
  isForgotten = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: {
    readonly identity: TerminalIdentity;
    readonly key: PaneId;
    readonly source: TerminalSource;
    readonly generation: number;
    readonly reservedSeq: number;
    readonly size: TerminalSize;
  }) {
    this.identity = options.identity;
    this.key = options.key;
    this.source = options.source;
    this.generation = options.generation;
    this.reservedSeq = options.reservedSeq;
    this.size = options.size;
    this.lastActivityAt = options.identity.createdAt;
  }

  get id(): string {
    return this.identity.id;
  }

  get isRunning(): boolean {
    return this.source.exit === undefined;
  }

  /** Serializes changes of its program. @throws AppError NOT_FOUND when it was killed meanwhile */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(() => {
      if (this.isForgotten) throw unknownTerminal();
      return work();
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  entry(): TerminalEntry {
    const { id, title, mode, createdAt, cwd } = this.identity;
    const { exit, outputSeq, tailSeq } = this.source;
    const exitCode = exit === undefined ? undefined : exitCodeOf(exit);
    return {
      terminalId: id,
      title,
      mode,
      status: exit === undefined ? "running" : "exited",
      createdAt,
      lastActivityAt: this.lastActivityAt,
      cwd,
      ...this.size,
      hasClients: this.clients > 0,
      pid: exit === undefined ? (this.program?.pid ?? this.panePid ?? null) : null,
      ...(exitCode === undefined ? {} : { exitCode }),
      bufferRef: { outputSeq, tailSeq },
      ...(this.place === "orphan" ? { orphan: true as const } : {}),
    };
  }
}

/** As in a shell: 128 plus the signal's number for a program ended by a signal. */
export const exitCodeOf = ({ exitCode, signal }: ExitStatus): number | undefined =>
  exitCode ?? (signal === undefined ? undefined : 128 + signal);

/** Does not quote the requested id: it may be anything. */
export const unknownTerminal = (): AppError =>
  new AppError("NOT_FOUND", "there is no such terminal; list the terminals again");

export const tooManyTerminals = (max: number): AppError =>
  new AppError("RESOURCE_LIMIT", `there are ${max} terminals already (MAX_TERMINALS); kill one first`, {
    details: { limit: "MAX_TERMINALS", max },
  });

/** @param alive its program, or what is left of it, by pid */
export const livesOn = (alive: readonly number[]): AppError => {
  const who = `process${alive.length > 1 ? "es" : ""} ${alive.join(", ")}`;
  return new AppError(
    "INCONSISTENT_STATE",
    `the terminal's program lives on (${who}): SIGKILL does not reach it, or has not ended it yet; end it as its user or wait, then kill the terminal again`,
    { details: { pids: alive } },
  );
};

/** @throws AppError INVALID_TARGET */
export function requireRunning({ isRunning, isEnding, pane }: Terminal): PaneId {
  if (isEnding) throw new AppError("INVALID_TARGET", "the terminal is being killed; make another one");
  if (isRunning && pane !== undefined) return pane;
  throw new AppError("INVALID_TARGET", "the terminal's program has ended; respawn the terminal, or make another one");
}
