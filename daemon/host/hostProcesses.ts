/** What a host (`Host`) knows about its processes. */
import type { Procfs } from "./procfs.ts";

export interface HostProcesses extends Procfs {
  /** Whether `statNow` and the other `…Now` methods report anything; if not, only `isAlive` does. */
  readonly reportsNow: boolean;
  /** Whether a process with this pid exists. */
  isAlive(pid: number): boolean | undefined;
  /**
   * Signals a process, or with a negative number its whole group. True: sent. False: there is no such process, or it is
   * another user's.
   */
  signal(pid: number, name: "SIGCHLD" | "SIGHUP" | "SIGKILL" | "SIGUSR1"): boolean | undefined;
  /** The user it runs as. */
  owner(pid: number): Promise<number | undefined>;
  /** A path that starts the program which the process runs, even if its file has been replaced. */
  programOf(pid: number): string | undefined;
  /**
   * The current processes, if the answer is worth starting a program: `stat`, `words`, `children` (with and without `Now`)
   * and `owner` of the result describe one moment. If no program is needed, the result is this object itself.
   */
  probe(): Promise<HostProcesses>;
}
