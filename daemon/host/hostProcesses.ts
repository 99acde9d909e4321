/** What a host tells of its processes (`Host`). */
import type { Procfs } from "./procfs.ts";

export interface HostProcesses extends Procfs {
  /** Whether `statNow` and the others of this moment tell anything; where they do not, only `isAlive` does. */
  readonly reportsNow: boolean;
  /** Whether there is a process of this number. */
  isAlive(pid: number): boolean | undefined;
  /**
   * To a process, or to a whole group, whose number is then negative. True: it was sent. False: there is none, or it is
   * another user's.
   */
  signal(pid: number, name: "SIGCHLD" | "SIGHUP" | "SIGKILL" | "SIGUSR1"): boolean | undefined;
  /** The user it runs as. */
  owner(pid: number): Promise<number | undefined>;
  /** A path that runs the program which the process runs, also when its file has been replaced. */
  programOf(pid: number): string | undefined;
  /**
   * The processes as they are now, for a question that is worth starting a program: `stat`, `words`, `children` and `owner`
   * of what it returns tell of one moment. Where nothing has to be started these are the same processes.
   */
  probe(): Promise<HostProcesses>;
}
