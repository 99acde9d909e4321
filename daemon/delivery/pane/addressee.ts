/**
 * Which process a delivery is for. A pane outlives its programs: one that dies, is stopped or is respawned leaves whoever
 * comes next to read what was meant for it. So who reads from the pane is noted when the request arrives, before anything is
 * awaited, and it is asked again in the turn of every write and by tmux itself when it executes the write. An agent's prompt
 * is never given to a shell.
 */
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { HostProcesses } from "../../host/hostProcesses.ts";
import { startClock } from "../../host/startClock.ts";
import {
  addresseeOf,
  ageSec,
  bytesRead,
  type ForegroundMark,
  isOnProcessor,
  isSameProcess,
  isStillForeground,
  foregroundMarkOf,
  readersOf,
} from "../../panes/foreground.ts";
import type { Foreground, ForegroundProcess, PaneForeground, ProcessMark } from "../../tmux/processes.ts";
import { EndSigns } from "../../panes/endSigns.ts";
import type { Profile } from "../../readiness/profile.ts";
import type { OutputSource } from "../../tmux/outputSource.ts";
import type { InputPart, InputReceipt, PaneCondition } from "../../tmux/io.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";

/** What a caller demands of the process beyond what its profile does. */
export interface AddresseeRequest {
  /** Only this process: the one that asked the question, or that the caller inspected. */
  readonly process?: ProcessMark | undefined;
  /** Never a shell, whatever the profile says. */
  readonly isAgent?: boolean | undefined;
  /** Who read from the pane when the request arrived, if that was before it came to the engine. */
  readonly readers?: Readers | undefined;
  /** The request had to wait for its server: who read when it arrived is not known. */
  readonly isLate?: boolean | undefined;
  /** Names of the program besides the profile's. */
  readonly programs?: ReadonlySet<string> | undefined;
}

/** Who reads from a pane at one moment, and what shows of their end. */
interface Readers {
  readonly foreground: Foreground;
  readonly endSigns: EndSigns;
}

/** What was so when a request arrived: whom it can have meant. */
export interface Arrival {
  /** Undefined where that cannot be known at once. */
  readonly readers: Readers | undefined;
  /** The pane's output, and how far it had come. */
  readonly source: OutputSource;
  readonly outputSeq: number;
  /** The request names the program's profile. */
  readonly isNamed: boolean;
  /** An agent was in front within the last seconds: without a name, whoever reads now was not meant unless it is one. */
  readonly hadAgent: boolean;
}

type MeantBy = Pick<Arrival, "readers" | "isNamed" | "hadAgent">;

/** In the turn in which a request arrives. */
export function readersNow(server: TmuxServer, pane: PaneId): Readers | undefined {
  const { processes } = server;
  const foreground = readersOf(server.findPane(pane)?.pid, processes);
  if (foreground === undefined) return undefined;
  const pids = foreground.map(({ pid }) => pid);
  return { foreground, endSigns: new EndSigns(pids, processes) };
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
    endSigns: EndSigns | undefined,
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

  /** One job, while it still reads. @param hasTyped something was typed for it before @throws AppError WRONG_STATE */
  async type(server: TmuxServer, pane: PaneId, parts: readonly InputPart[], hasTyped = false): Promise<InputReceipt> {
    const details = hasTyped ? { textWritten: true } : {};
    const beforeWrite = (): void => this.requireReading(pane, details);
    try {
      return await server.input(pane, parts, { onlyIf: this.condition, beforeWrite });
    } catch (error) {
      if (error instanceof AppError && error.code === "INCONSISTENT_STATE") {
        // The beginning of a long job was typed.
        const hasBegun = hasTyped || error.details?.["delivery"] === "indeterminate";
        this.requireSame(pane, hasBegun ? { textWritten: true } : {});
      }
      throw error;
    }
  }

  /** The same process, and not about to end. @throws AppError WRONG_STATE */
  requireReading(pane: PaneId, details: Readonly<Record<string, unknown>>): void {
    this.requireSame(pane, details);
    if (this.isEnding) throw endsNow(pane, details);
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

/**
 * One job of input for the program that a caller names: for who read from the pane when the request arrived, checked in the
 * turn of the write, and by tmux itself in the step in which it types.
 * @throws AppError WRONG_STATE (`details.reason: "program_changed"`), INVALID_ARGUMENT, NOT_FOUND, CONNECTION_LOST
 */
export async function typeFor(
  server: TmuxServer,
  pane: PaneId,
  profile: Profile,
  parts: readonly InputPart[],
  request: AddresseeRequest = {},
): Promise<InputReceipt> {
  const readers = request.isLate === true ? undefined : readersNow(server, pane);
  const addressee = await findAddressee(server, pane, profile, { readers, isNamed: true, hadAgent: false }, request);
  return addressee.type(server, pane, parts);
}

/** How often a pane is asked for again whose process has only just been forked: some milliseconds. */
const MAX_STARTING_LOOKS = 50;

/** A child of tmux's server that has not taken its terminal yet reads soon: nobody else has read there before it. */
async function startedForeground(server: TmuxServer, pane: PaneId): Promise<PaneForeground> {
  const isStarting = ({ pid, processes }: PaneForeground): boolean => {
    if (pid === undefined || processes?.length !== 0) return false;
    const stat = server.processes.statNow(pid);
    return stat !== undefined && (stat.foregroundGroup <= 0 || stat.foregroundGroup === stat.group);
  };
  let found = await server.foreground(pane);
  for (let looks = 0; looks < MAX_STARTING_LOOKS && isStarting(found); looks += 1)
    found = await server.foreground(pane);
  return found;
}

/** @throws AppError WRONG_STATE (`details.reason: "program_changed"`), NOT_FOUND, CONNECTION_LOST */
export async function findAddressee(
  server: TmuxServer,
  pane: PaneId,
  profile: Profile,
  arrival: MeantBy,
  request: AddresseeRequest = {},
): Promise<Addressee> {
  const isAgent = profile.kind === "agent" || request.isAgent === true;
  const names = new Set([...(isAgent ? profile.programs : []), ...(request.programs ?? [])]);
  const { pid, command, processes } = await startedForeground(server, pane);
  const condition: PaneCondition = { pid, command: command === "" ? undefined : command };
  if (processes === undefined) {
    if (isAgent && SHELL_NAME.test(command)) throw shellInFront(pane);
    if (!isAgent && !arrival.isNamed && pid !== undefined) throw notNamed(pane);
    return new Addressee(server.processes, undefined, condition, isAgent, undefined);
  }
  const program = addresseeOf(processes, names);
  if (program === undefined || pid === undefined)
    throw programChanged(pane, "no program reads from the pane at the moment; look at it again");
  if (isAgent && program.isShell) throw shellInFront(pane);
  if (request.process !== undefined && !isAmong(processes, request.process)) {
    throw programChanged(pane, "a different program now reads from the pane; look at the pane");
  }
  if (isAgent) requireMeantAgent(pane, processes, program, names, arrival);
  else requireMeantProgram(pane, program, arrival);
  const mark = foregroundMarkOf(pid, processes, program);
  const marked = [mark.leader.pid, mark.program.pid];
  const endSigns = isAgent ? new EndSigns(marked, server.processes, arrival.readers?.endSigns) : undefined;
  return new Addressee(server.processes, mark, condition, isAgent, endSigns);
}

/**
 * An agent that reads now and is not who read when the request arrived may have been starting then: out of a launcher that
 * still is in front, out of itself, or, when the request names it, from a shell.
 */
function requireMeantAgent(
  pane: PaneId,
  processes: Foreground,
  program: ForegroundProcess,
  names: ReadonlySet<string>,
  { readers, isNamed }: MeantBy,
): void {
  const before = readers === undefined ? undefined : addresseeOf(readers.foreground, names);
  if (before === undefined ? readers === undefined || isNamed : isNamed && before.isShell) return;
  const isThere = processes.some(({ pid, start }) => pid === before?.pid && start === before.start);
  if (before !== undefined && (isSameProcess(before, program) || isThere)) return;
  throw programChanged(pane, OTHER_SINCE);
}

/** What is meant for any other program is meant for this one process; with a name also where it was not known at once. */
function requireMeantProgram(pane: PaneId, program: ForegroundProcess, { readers, isNamed, hadAgent }: MeantBy): void {
  if (readers === undefined && !isNamed) throw notNamed(pane);
  const before = readers === undefined ? program : addresseeOf(readers.foreground, new Set());
  if (before === undefined || !isSameProcess(before, program)) throw programChanged(pane, OTHER_SINCE);
  if (hadAgent && !isNamed) {
    throw programChanged(
      pane,
      "an agent was in front until a moment ago, and what was meant for it could be a command to who reads now; start the " +
        "agent again, or name the profile of the program that is meant",
    );
  }
}

const OTHER_SINCE = "a different program reads from the pane than when the request arrived; look at the pane";

const notNamed = (pane: PaneId): AppError =>
  programChanged(
    pane,
    "which program reads from the pane cannot be known at once here, and the text could be a command to it; name its profile",
  );

/** Where the system does not report processes, tmux's name for the foreground is all there is. */
const SHELL_NAME = /^-?(?:ash|bash|csh|dash|elvish|fish|ksh|ksh93|mksh|nu|pwsh|sh|tcsh|xonsh|yash|zsh)$/;

const isAmong = (processes: readonly ForegroundProcess[], wanted: ProcessMark): boolean =>
  processes.some((process) => isSameProcess(process, wanted));

const shellInFront = (pane: PaneId): AppError =>
  programChanged(pane, "a shell reads from the pane, so the text would be a command; start the agent, then try again");

export const endsNow = (pane: PaneId, details: Readonly<Record<string, unknown>>): AppError =>
  programChanged(pane, "the program is about to exit and no longer reads; nothing more was typed", details);

const programChanged = (pane: PaneId, message: string, details: Readonly<Record<string, unknown>> = {}): AppError =>
  new AppError("WRONG_STATE", message, { details: { reason: "program_changed", pane, ...details } });
