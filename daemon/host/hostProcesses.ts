/** What a host knows of its processes (`Host`). */
import type { Procfs } from "./procfs.ts";

export interface HostProcesses extends Procfs {
  /** Whether `statNow` and the other `…Now` methods report anything; where they do not, only `isAlive` does. */
  readonly reportsNow: boolean;
  /** Whether there is a process of this number. */
  isAlive(pid: number): boolean | undefined;
  /**
   * To a process, or with a negative number to a whole group. True: sent. False: there is none, or it is another
   * user's.
   */
  signal(pid: number, name: "SIGCHLD" | "SIGHUP" | "SIGKILL" | "SIGUSR1"): boolean | undefined;
  /** The user it runs as. */
  owner(pid: number): Promise<number | undefined>;
  /** A path that starts the program which the process runs, even if its file has been replaced. */
  programOf(pid: number): string | undefined;
  /**
   * The processes as they are now, for a question that is worth starting a program: `stat`, `words`, `children` (with and
   * without `Now`) and `owner` of the result describe one moment. Where nothing has to be started, the result is this
   * object itself.
   */
  probe(): Promise<HostProcesses>;
}
