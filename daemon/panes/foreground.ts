/**
 * Which process reads what is typed into a pane: the foreground process group of its terminal, and within it the
 * intended program rather than what started it (`sh -c 'agent; exec bash'`, `npx agent`, `script`). A process is
 * identified by pid, start and executable, so that neither a reused pid nor an `exec` passes for the one seen before.
 * Undefined where the host does not know (`HostProcesses`); where it has no current data, a process counts as the same
 * until it has ended.
 */
import type { Foreground, ForegroundProcess, ProcessMark } from "../tmux/processes.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import { TICKS_PER_SEC } from "../host/startClock.ts";
import { hasEnded as isOver, type Procfs, type ProcessStat } from "../host/procfs.ts";
import { isCalled, namesOf, readsCommands } from "../host/programNames.ts";

/** Most processes examined below the foreground's leader; an agent is among the first few. */
const MAX_PROCESSES = 128;

const SHELLS: ReadonlySet<string> = new Set(
  "ash bash busybox csh dash elvish fish ksh ksh93 mksh nu pwsh sh tcsh xonsh yash zsh".split(" "),
);
/** Programs that stay in front of what they start. */
const LAUNCHERS: ReadonlySet<string> = new Set(
  "asdf bunx direnv doas env make mise nice npm npx pipx pnpm pnpx script sudo timeout uv uvx volta yarn".split(" "),
);

/**
 * At this moment, without waiting: what is asked later is not asked of the same processes.
 * @param panePid the pane's own process
 * @returns undefined when the system does not know; empty when nobody reads (the foreground group has ended)
 */
export function readForeground(panePid: number, processes: HostProcesses): Foreground | undefined {
  if (!processes.reportsNow) return undefined;
  const pane = processes.statNow(panePid);
  if (pane === undefined || pane.foregroundGroup <= 0) return [];
  const leader = leaderOf(processes, pane);
  if (leader === undefined) return [];
  const found: ForegroundProcess[] = [];
  const seen = new Set([leader.pid]);
  let generation: readonly ProcessStat[] = [leader];
  for (let depth = 0; generation.length > 0; depth += 1) {
    const next: ProcessStat[] = [];
    for (const stat of generation) {
      if (isReading(stat)) found.push(processOf(processes, stat, processes.wordsNow(stat.pid) ?? [], depth));
      for (const child of processes.childrenNow(stat.pid) ?? []) {
        if (seen.has(child) || seen.size >= MAX_PROCESSES) continue;
        seen.add(child);
        const childStat = processes.statNow(child);
        if (childStat !== undefined && !isOver(childStat)) next.push(childStat);
      }
    }
    generation = next;
  }
  return found;
}

/**
 * Who reads from a pane, by what is known of it without asking tmux. Undefined where the host does not report processes, and
 * where the pane's process is not the one that is known of: a respawn tells nobody.
 */
export function readersOf(panePid: number | undefined, processes: HostProcesses): Foreground | undefined {
  const pane = panePid === undefined ? undefined : processes.statNow(panePid);
  return pane === undefined || pane.terminal === 0 || isOver(pane) ? undefined : readForeground(pane.pid, processes);
}

/** Added to ticks computed from a fraction of seconds, against rounding errors. */
const ROUNDING = 1e-4;

/** A program whose first act is to start another one of its name (a script its binary, itself with more memory). */
export const LAUNCHED_WITHIN_SEC = 5;

/**
 * The named program, otherwise what shells and launchers have started; undefined when nobody reads. When it has soon
 * started another of its name with the same terminal, that one counts: it may have ended before its parent notices.
 * Helpers with the agent's name have no terminal as input; what it has forked bears its name until it becomes what it is for.
 */
export function addresseeOf(foreground: Foreground, names: ReadonlySet<string>): ForegroundProcess | undefined {
  let named = foreground.find((process) => isCalled(process.names, names));
  for (let next = named; next !== undefined;) {
    named = next;
    const { depth, start } = named;
    const latest = Number(start) + LAUNCHED_WITHIN_SEC * TICKS_PER_SEC;
    next = foreground.find(
      (process) =>
        process.depth === depth + 1 &&
        process.hasTerminalInput === true &&
        process.isForked !== true &&
        Number(process.start) <= latest &&
        isCalled(process.names, names),
    );
  }
  if (named !== undefined) return named;
  return foreground.find((process) => !process.isShell && !isCalled(process.names, LAUNCHERS)) ?? foreground[0];
}

/** The pane's processes as they were last seen; checked again in the turn of a write. */
export interface ForegroundMark {
  readonly panePid: number;
  readonly leader: ProcessMark;
  readonly program: ProcessMark;
  /** All that were in the foreground: a child of the named process may be the reader. */
  readonly readers: readonly number[];
}

export const foregroundMarkOf = (
  panePid: number,
  foreground: Foreground,
  program: ForegroundProcess,
): ForegroundMark => ({
  panePid,
  leader: foreground[0] ?? program,
  program,
  readers: foreground.map(({ pid }) => pid),
});

/** What they have read in total, from anything; undefined where the system does not report it. */
export function bytesRead({ readers }: ForegroundMark, processes: HostProcesses): number | undefined {
  const each = readers.map((pid) => processes.bytesReadNow(pid)).filter((bytes) => bytes !== undefined);
  return each.length === 0 ? undefined : each.reduce((sum, bytes) => sum + bytes, 0);
}

/** The same processes still read from the pane's terminal. */
export function isStillForeground({ panePid, leader, program }: ForegroundMark, processes: HostProcesses): boolean {
  if (!processes.reportsNow) return [leader, program].every((mark) => mayRun(processes, mark));
  const pane = processes.statNow(panePid);
  const [first, last] = [leader, program].map((mark) => sameProcess(processes, mark));
  if (pane === undefined || first === undefined || last === undefined) return false;
  return first.group === pane.foregroundGroup && isReading(last);
}

/** It could read what is typed into its terminal now: it has not ended, is not stopped, and is in the foreground. */
export function isAtTerminal(mark: ProcessMark, processes: HostProcesses): boolean {
  if (!processes.reportsNow) return mayRun(processes, mark);
  const stat = sameProcess(processes, mark);
  return stat !== undefined && isReading(stat);
}

/**
 * Whether it was there before this moment, in seconds since boot. Within one tick it is unknown, and counts as no; a
 * host with other start times (macOS) cannot say, and counts as yes.
 */
export function wasThereBefore({ start }: ProcessMark, uptimeSec: number): boolean {
  const ticks = Number(start);
  return Number.isNaN(ticks) || ticks < Math.floor(uptimeSec * TICKS_PER_SEC + ROUNDING);
}

/** For how long it has run; undefined on a host with other start times (macOS). @param uptimeSec of `startClock` */
export function ageSec({ start }: ProcessMark, uptimeSec: number): number | undefined {
  const age = uptimeSec - Number(start) / TICKS_PER_SEC;
  return Number.isNaN(age) ? undefined : age;
}

/** Neither ended nor gone; it may have become another program. */
export function isRunning(mark: ProcessMark, processes: HostProcesses): boolean {
  if (!processes.reportsNow) return mayRun(processes, mark);
  const stat = processes.statNow(mark.pid);
  return stat !== undefined && stat.start === mark.start && !isOver(stat);
}

/**
 * It has ended, has become another program, or has lost its terminal: respawning a pane hangs up the old terminal
 * (tty_hangup), and its process may continue indefinitely. Being stopped, or in the background, does not count.
 */
export function hasLeftTerminal(mark: ProcessMark, processes: HostProcesses): boolean {
  if (!processes.reportsNow) return !mayRun(processes, mark);
  const stat = sameProcess(processes, mark);
  return stat === undefined || stat.terminal === 0;
}

/** It is on a CPU, or waits for one or for the disk: it may still be working on its input. */
export function isOnProcessor({ pid, start }: ProcessMark, processes: HostProcesses): boolean {
  return processes.statNow(pid)?.start === start && processes.isRunningNow(pid) === true;
}

/** What is not known to have ended. */
const mayRun = (processes: HostProcesses, { pid }: ProcessMark): boolean => processes.isAlive(pid) !== false;

/** Nothing else of it. */
export const markOf = ({ pid, start, executable }: ProcessMark): ProcessMark => ({ pid, start, executable });

export const isSameProcess = (a: ProcessMark, b: ProcessMark): boolean =>
  a.pid === b.pid && a.start === b.start && a.executable === b.executable;

function sameProcess(processes: Procfs, { pid, start, executable }: ProcessMark): ProcessStat | undefined {
  const stat = processes.statNow(pid);
  if (stat === undefined || stat.start !== start || isOver(stat)) return undefined;
  return processes.executableNow(pid) === executable ? stat : undefined;
}

/** tmux's own name (`proc.c`): in a pane it is a child that has not started its program yet. */
const SERVER_NAME = "tmux: server";

/** In the foreground of its own terminal (below `script` not the pane's), and not stopped. */
const isReading = (stat: ProcessStat): boolean =>
  !isOver(stat) &&
  stat.name !== SERVER_NAME &&
  stat.state !== "T" &&
  stat.state !== "t" &&
  stat.terminal !== 0 &&
  stat.group === stat.foregroundGroup;

/** The group's leader, or a remaining member of the group in the pane. */
function leaderOf(processes: Procfs, pane: ProcessStat): ProcessStat | undefined {
  const leader = processes.statNow(pane.foregroundGroup);
  if (leader !== undefined && !isOver(leader)) return leader;
  let generation: readonly number[] = [pane.pid];
  for (let probed = 0; generation.length > 0 && probed < MAX_PROCESSES; probed += generation.length) {
    const stats = generation.map((pid) => processes.statNow(pid));
    const member = stats.find((stat) => stat !== undefined && stat.group === pane.foregroundGroup && !isOver(stat));
    if (member !== undefined) return member;
    generation = generation.flatMap((pid) => processes.childrenNow(pid) ?? []);
  }
  return undefined;
}

function processOf(
  processes: Procfs,
  { pid, start, name, isForked }: ProcessStat,
  words: readonly string[],
  depth: number,
): ForegroundProcess {
  const names = namesOf(name, words);
  const isShell = SHELLS.has(names[1] ?? name);
  return {
    pid,
    start,
    executable: processes.executableNow(pid),
    names,
    isShell,
    isInteractiveShell: isShell && readsCommands(words),
    hasTerminalInput: processes.hasTerminalInputNow(pid),
    isForked,
    depth,
  };
}
