/**
 * Which process a delivery is for. A pane outlives its programs: one that dies, is stopped or is respawned leaves whoever
 * comes next to read what was meant for it. So a delivery notes who reads from the pane when it begins, and that is asked
 * again in the turn of every write and by tmux itself when it executes the write. An agent's prompt is never given to a shell.
 */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import { startClock } from "../host/startClock.ts";
import {
  addresseeOf,
  ageSec,
  bytesRead,
  type ForegroundMark,
  isOnProcessor,
  isSameProcess,
  isStillForeground,
  foregroundMarkOf,
} from "../panes/foreground.ts";
import type { ForegroundProcess, ProcessMark } from "../tmux/processes.ts";
import { EndSigns } from "../panes/endSigns.ts";
import type { Profile } from "../readiness/profile.ts";
import type { PaneCondition } from "../tmux/io.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";

/** What a caller demands of the process beyond what its profile does. */
export interface AddresseeRequest {
  /** Only this process: the one that asked the question, or that the caller inspected. */
  readonly process?: ProcessMark | undefined;
  /** Never a shell, whatever the profile says. */
  readonly isAgent?: boolean | undefined;
  /** Names of the program besides the profile's. */
  readonly programs?: ReadonlySet<string> | undefined;
}

export class Addressee {
  readonly #processes: HostProcesses;
  readonly #mark: ForegroundMark | undefined;
  readonly #endSigns: EndSigns | undefined;
  /** For tmux, at the moment of the write. */
  readonly condition: PaneCondition;
  /** It is an agent, or meant as one: a shell gets nothing of what it is given. */
  readonly isAgent: boolean;

  constructor(
    processes: HostProcesses,
    mark: ForegroundMark | undefined,
    condition: PaneCondition,
    isAgent: boolean,
    endSigns = mark === undefined || !isAgent
      ? undefined
      : new EndSigns([mark.leader.pid, mark.program.pid], processes),
  ) {
    this.#processes = processes;
    this.#mark = mark;
    this.#endSigns = endSigns;
    this.condition = condition;
    this.isAgent = isAgent;
  }

  /** For a program that renames itself: only the process is compared. */
  whateverItsName(): Addressee {
    return new Addressee(this.#processes, this.#mark, { pid: this.condition.pid }, this.isAgent, this.#endSigns);
  }

  /** It still runs, although it looked as if it was ending. */
  goingOn(): Addressee {
    return new Addressee(this.#processes, this.#mark, this.condition, this.isAgent, this.#endSigns?.renewed());
  }

  /** An agent that has been told to end, or has begun to, as far as the system reports. */
  get isEnding(): boolean {
    return this.#endSigns?.isShown === true;
  }

  /** The process that reads; undefined where the system does not report it. */
  get process(): ProcessMark | undefined {
    return this.#mark?.program;
  }

  /** For how long it has run, in seconds; undefined where the system does not report it. */
  get ageSec(): number | undefined {
    return this.#mark === undefined ? undefined : ageSec(this.#mark.program, startClock(this.#processes)());
  }

  /** How much has been read in the foreground so far; undefined where the system does not report it. */
  get bytesRead(): number | undefined {
    return this.#mark === undefined ? undefined : bytesRead(this.#mark, this.#processes);
  }

  /** It is running or runnable at this moment. */
  get isRunning(): boolean {
    return this.#mark !== undefined && isOnProcessor(this.#mark.program, this.#processes);
  }

  /** It no longer reads, as far as the system reports. */
  get isGone(): boolean {
    return this.#mark !== undefined && !isStillForeground(this.#mark, this.#processes);
  }

  /** @throws AppError WRONG_STATE */
  requireSame(pane: PaneId, details: Readonly<Record<string, unknown>>): void {
    if (!this.isGone) return;
    throw programChanged(
      pane,
      "the program that was meant no longer reads from the pane; nothing more was typed",
      details,
    );
  }
}

/** @throws AppError WRONG_STATE (`details.reason: "program_changed"`), NOT_FOUND, CONNECTION_LOST */
export async function findAddressee(
  server: TmuxServer,
  pane: PaneId,
  profile: Profile,
  request: AddresseeRequest = {},
): Promise<Addressee> {
  const isAgent = profile.kind === "agent" || request.isAgent === true;
  const names = new Set([...(isAgent ? profile.programs : []), ...(request.programs ?? [])]);
  const { pid, command, processes } = await server.foreground(pane);
  const condition: PaneCondition = { pid, command: command === "" ? undefined : command };
  if (processes === undefined) {
    if (isAgent && SHELL_NAME.test(command)) throw shellInFront(pane);
    return new Addressee(server.processes, undefined, condition, isAgent);
  }
  const program = addresseeOf(processes, names);
  if (program === undefined || pid === undefined)
    throw programChanged(pane, "no program reads from the pane at the moment; look at it again");
  if (isAgent && program.isShell) throw shellInFront(pane);
  if (request.process !== undefined && !isAmong(processes, request.process)) {
    throw programChanged(pane, "a different program now reads from the pane; look at the pane");
  }
  return new Addressee(server.processes, foregroundMarkOf(pid, processes, program), condition, isAgent);
}

/** Where the system does not report processes, tmux's name for the foreground is all there is. */
const SHELL_NAME = /^-?(?:ash|bash|csh|dash|elvish|fish|ksh|ksh93|mksh|nu|pwsh|sh|tcsh|xonsh|yash|zsh)$/;

const isAmong = (processes: readonly ForegroundProcess[], wanted: ProcessMark): boolean =>
  processes.some((process) => isSameProcess(process, wanted));

const shellInFront = (pane: PaneId): AppError =>
  programChanged(pane, "a shell reads from the pane, so the text would be a command; start the agent, then try again");

export const programChanged = (
  pane: PaneId,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): AppError => new AppError("WRONG_STATE", message, { details: { reason: "program_changed", pane, ...details } });
