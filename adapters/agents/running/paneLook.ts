/**
 * Which agent reads from one pane, asked once a second of the host alone. Most of the time nothing has changed, and one or
 * two reads say so: an idle shell is still in front, or the agent that was found still is. Only something else is read in
 * full (`readForeground`): every process in front with its names.
 */
import { hasEnded } from "../../../daemon/host/procfs.ts";
import { startClock } from "../../../daemon/host/startClock.ts";
import type { HostProcesses } from "../../../daemon/host/hostProcesses.ts";
import { ageSec, readForeground } from "../../../daemon/panes/foreground.ts";
import { agentIn, type agentKinds, type FoundAgent } from "./agentKinds.ts";

/** A launcher hands over to the program itself within this (`addresseeOf`). */
const YOUNG_SEC = 6;
/** Processes in front of a pane that are compared: a parallel build has hundreds, an agent's launcher a few. */
const MAX_COMPARED = 64;

export class PaneLook {
  readonly #processes: HostProcesses;
  readonly #kinds: ReturnType<typeof agentKinds>;
  readonly #uptimeSec: () => number;
  #found: FoundAgent | undefined;
  /** What was in front when it was read in full. */
  #seen = "";
  /** That was a shell with job control, alone: whatever it runs has a group of its own. */
  #isIdleShell = false;

  constructor(processes: HostProcesses, kinds: ReturnType<typeof agentKinds>) {
    this.#processes = processes;
    this.#kinds = kinds;
    this.#uptimeSec = startClock(processes);
  }

  /**
   * @param panePid the pane's own process
   * @returns the agent in front; undefined for none
   */
  look(panePid: number): FoundAgent | undefined {
    if (this.#isFoundInFront()) return this.#found;
    const seen = this.#inFront(panePid);
    if (seen === this.#seen && this.#found === undefined) return undefined;
    this.#seen = seen;
    const foreground = readForeground(panePid, this.#processes) ?? [];
    this.#isIdleShell = foreground.length === 1 && foreground[0]?.isInteractiveShell === true;
    this.#found = agentIn(foreground, this.#kinds);
    // In the middle of execve(2) a process has its new name and no words yet.
    if (foreground.some(({ names }) => names.length <= 1)) this.#seen = "";
    return this.#found;
  }

  /** The same program, in the foreground of its terminal, and not so young that another one may still take over from it. */
  #isFoundInFront(): boolean {
    if (this.#found === undefined) return false;
    const { pid, start, executable } = this.#found.process;
    const stat = this.#processes.statNow(pid);
    if (stat === undefined || stat.start !== start || hasEnded(stat)) return false;
    if (stat.terminal === 0 || stat.group !== stat.foregroundGroup) return false;
    if (this.#processes.executableNow(pid) !== executable) return false;
    return (ageSec(this.#found.process, this.#uptimeSec()) ?? YOUNG_SEC) >= YOUNG_SEC;
  }

  /** Two texts that are equal: the same processes, under the same names. */
  #inFront(panePid: number): string {
    const pane = this.#processes.statNow(panePid);
    if (pane === undefined || pane.terminal === 0 || hasEnded(pane)) return "";
    const own = `${pane.foregroundGroup} ${pane.pid} ${pane.start} ${pane.name}`;
    if (this.#isIdleShell && this.#seen === own) return own;
    const compared: string[] = [];
    const queue = [pane.foregroundGroup];
    for (let at = 0; at < queue.length && at < MAX_COMPARED; at += 1) {
      const stat = this.#processes.statNow(queue[at]!);
      if (stat === undefined) continue;
      compared.push(`${stat.pid} ${stat.start} ${stat.name} ${stat.isForked}`);
      queue.push(...(this.#processes.childrenNow(stat.pid) ?? []));
    }
    return compared.length <= 1 && pane.foregroundGroup === pane.pid ? own : [own, ...compared].join("\n");
  }
}
