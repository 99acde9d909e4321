/**
 * What the kernel tells of other processes, where it does: /proc on Linux. Everything here is a look that may come too
 * late; who is not there, or not readable, is `undefined`, and that is never taken for an answer.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";

function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

export function parentOf(pid: number): number | undefined {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name before the last parenthesis may hold anything.
  const parent = Number(stat?.slice(stat.lastIndexOf(") ") + 2).split(" ")[1]);
  return Number.isInteger(parent) && parent > 0 ? parent : undefined;
}

/** As it was started, unless it has changed that since. */
export const argumentsOf = (pid: number): readonly string[] | undefined =>
  attempt(() => readFileSync(`/proc/${pid}/cmdline`, "latin1"))?.split("\0");

/** What `ps` calls it; at most 15 characters of its own choice. */
export const nameOf = (pid: number): string | undefined =>
  attempt(() => readFileSync(`/proc/${pid}/comm`, "latin1"))?.trimEnd();

export const userOf = (pid: number): number | undefined => {
  const uid = attempt(() => readFileSync(`/proc/${pid}/status`, "latin1"))?.match(/^Uid:\t(\d+)/m)?.[1];
  return uid === undefined ? undefined : Number(uid);
};

/** What a descriptor is open on: a path, `socket:[INODE]`. */
export const openOn = (pid: number, fd: number | string): string | undefined =>
  attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`));

export const descriptorsOf = (pid: number): readonly string[] | undefined =>
  attempt(() => readdirSync(`/proc/${pid}/fd`));

/** Whether it has the other end of the terminal `/dev/pts/NUMBER`. */
export function holdsTerminal(pid: number, number: number): boolean | undefined {
  const info = new RegExp(`^tty-index:\\s*${number}$`, "m");
  return descriptorsOf(pid)?.some(
    (fd) =>
      openOn(pid, fd)?.endsWith("/ptmx") === true &&
      info.test(attempt(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, "latin1")) ?? ""),
  );
}

/**
 * Who listens on a unix socket that was made at this path, whether its file is still there or not; of processes of ours
 * only. `__SO_ACCEPTCON` in the fourth column marks those that listen.
 */
export function listenerOf(socketPath: string): number | undefined {
  const rows = attempt(() => readFileSync("/proc/net/unix", "utf8"))?.split("\n") ?? [];
  const inodes = rows.flatMap((row) => {
    const [, inode, path] = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/.exec(row) ?? [];
    return path === socketPath ? [`socket:[${inode}]`] : [];
  });
  if (inodes.length === 0) return undefined;
  const pids = (attempt(() => readdirSync("/proc")) ?? []).filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.find((pid) => (descriptorsOf(pid) ?? []).some((fd) => inodes.includes(openOn(pid, fd) ?? "")));
}
