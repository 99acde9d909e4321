/**
 * Ends a terminal's program, whatever it does with signals: its process group and the foreground group of its terminal get
 * SIGHUP, as when a terminal is closed, and SIGKILL if they do not end. The pane's own process may be a shell that only waits
 * for the program (`PaneIo.programIn`): it ends by itself, with the program's exit status.
 */
import { isRunning } from "../../../daemon/panes/foreground.ts";
import type { Clock } from "../../../daemon/time/clock.ts";
import { sleep } from "../../../daemon/time/within.ts";
import type { ProcessMark } from "../../../daemon/tmux/processes.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../../protocol/errors.ts";
import { END_LOOK_MS, END_WITHIN_MS } from "../freshellLimits.ts";
import type { Terminal } from "./terminal.ts";

/** @throws AppError INCONSISTENT_STATE when its program, or what is left of it, lives on: another user's, or in the kernel */
export async function endTerminal(terminal: Terminal, server: TmuxServer, clock: Clock): Promise<void> {
  const { pane, source } = terminal;
  const { processes } = server;
  if (terminal.isRunning && pane !== undefined) terminal.program ??= await server.programIn(pane);
  const { program } = terminal;
  const isProgramOver = (): boolean => program === undefined || !isRunning(program, processes);
  if (!terminal.isRunning && isProgramOver()) return;
  const panePid = terminal.isRunning ? terminal.panePid : undefined;
  const hasExited = (): boolean => panePid === undefined || source.exit !== undefined;
  const ended = new Map<number, ProcessMark>();
  const groups = new Set<number>();
  const living = (): readonly ProcessMark[] => [...ended.values()].filter((mark) => isRunning(mark, processes));
  const areOver = (): boolean => living().length === 0;
  // What is in the foreground changes with every command of a shell that does not end.
  for (const signal of ["SIGHUP", "SIGKILL"] as const) {
    for (const [group, leader] of await groupsOf(server, panePid, program, hasExited)) {
      groups.add(group);
      if (leader !== undefined) ended.set(group, leader);
    }
    if (program !== undefined) ended.set(program.pid, program);
    for (const group of groups) processes.signal(-group, signal);
    if (await overInTime(clock, areOver)) break;
  }
  // For a leader that exited on SIGHUP and left a member of its group behind.
  for (const group of groups) processes.signal(-group, "SIGKILL");
  if (isProgramOver()) {
    if (panePid !== undefined && !(await overInTime(clock, hasExited))) {
      processes.signal(-panePid, "SIGKILL");
      await overInTime(clock, hasExited);
    }
    // The terminal is hung up only now, which also ends another user's program in its foreground.
    await overInTime(clock, areOver);
  }
  const alive = living();
  if (alive.length === 0) return;
  if (isProgramOver()) [terminal.program] = alive;
  const pids = alive.map(({ pid }) => pid);
  throw new AppError(
    "INCONSISTENT_STATE",
    `the terminal's program is still running (process${pids.length > 1 ? "es" : ""} ${pids.join(", ")}): SIGKILL has not ended it, or not yet; end it as its user or wait, then kill the terminal again`,
    { details: { pids } },
  );
}

/** The process groups to end, with their leaders, as they are now. */
async function groupsOf(
  server: TmuxServer,
  panePid: number | undefined,
  program: ProcessMark | undefined,
  hasExited: () => boolean,
): Promise<ReadonlyMap<number, ProcessMark | undefined>> {
  const processes = await server.processes.probe();
  const pane = panePid === undefined || hasExited() ? undefined : await processes.stat(panePid);
  const own = program !== undefined && isRunning(program, processes) ? await processes.stat(program.pid) : undefined;
  const groups = [own?.group ?? pane?.group ?? 0, pane?.foregroundGroup ?? 0].filter((group) => group > 1);
  return new Map(
    await Promise.all(
      groups.map(async (group): Promise<[number, ProcessMark | undefined]> => {
        // The shell that only waits for the program is no reason to wait.
        const leader = group === panePid && program !== undefined ? undefined : await processes.stat(group);
        return [group, leader === undefined ? undefined : { pid: group, start: leader.start, executable: undefined }];
      }),
    ),
  );
}

async function overInTime(clock: Clock, isOver: () => boolean): Promise<boolean> {
  const lastMs = clock.nowMs() + END_WITHIN_MS;
  while (!isOver()) {
    if (clock.nowMs() >= lastMs) return false;
    await sleep(clock, Math.min(END_LOOK_MS, lastMs - clock.nowMs()));
  }
  return true;
}
