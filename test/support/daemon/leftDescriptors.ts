/**
 * What a process holds that belongs to a daemon, as the kernel tells it: a master of a terminal that is not one of its own
 * panes', or a socket, pipe or file that the daemon has open. Linux only.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** `/dev/pts/N` for the other end of a master. */
function terminalOf(pid: number, fd: string): string {
  const index = /^tty-index:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8"))?.[1];
  return `/dev/pts/${index ?? "?"}`;
}

/** Descriptor and what it is open on; none when the process has gone. */
function descriptors(pid: number): readonly (readonly [fd: string, target: string])[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        const target = readlinkSync(`/proc/${pid}/fd/${fd}`);
        return [[fd, target.endsWith("/ptmx") ? `master of ${terminalOf(pid, fd)}` : target] as const];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

/** Targets that any two processes may have open; event queues of one kind are all called the same. */
const isAnybodys = (target: string): boolean => /^(anon_inode:|\/dev\/(null|pts\/|tty))/.test(target);

export interface Examined {
  readonly pid: number;
  readonly what: string;
  /** Terminals that it may hold the other end of. */
  readonly ownTerminals?: readonly string[];
}

export function foreignDescriptors(processes: readonly Examined[], daemon: number | undefined): readonly string[] {
  // What we were started with ourselves went to everybody.
  const everybodys = new Set(descriptors(process.pid).map(([, target]) => target));
  const daemons = new Set(daemon === undefined ? [] : descriptors(daemon).map(([, target]) => target));
  return processes.flatMap(({ pid, what, ownTerminals = [] }) => {
    const own = new Set(ownTerminals.map((terminal) => `master of ${terminal}`));
    return descriptors(pid)
      .filter(([, target]) => !isAnybodys(target) && !own.has(target) && !everybodys.has(target))
      .filter(([, target]) => target.startsWith("master of ") || daemons.has(target))
      .map(([fd, target]) => `${what} ${pid} has ${fd}: ${target}`);
  });
}

export function parentOf(pid: number): number | undefined {
  try {
    // The name may hold anything; after its last parenthesis come the state and the parent.
    return Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ").at(-1)?.split(" ")[1]);
  } catch {
    return undefined;
  }
}
