/**
 * Finds the process that listens on a unix socket: `/proc/net/unix` has the socket, `/proc/PID/fd` its owner (proc(5)). A
 * process that is gone meanwhile or not readable is skipped.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { attempt } from "../attempt.ts";

/** Searches the processes that we may read, which are those of our user. */
export function listenerOf(proc: string, socketPath: string, called = ""): number | undefined {
  const inodes = listeningInodes(proc, socketPath);
  if (inodes.length === 0) return undefined;
  const pids = (attempt(() => readdirSync(proc)) ?? []).filter((name) => /^\d+$/.test(name)).map(Number);
  return pids
    .filter(
      (pid) => called === "" || attempt(() => readFileSync(`${proc}/${pid}/comm`, "utf8"))?.startsWith(called) === true,
    )
    .find((pid) => descriptorsOf(proc, pid)?.some((fd) => inodes.includes(openOn(proc, pid, fd) ?? "")) === true);
}

/** `Num RefCount Protocol Flags Type St Inode Path`; the flag is __SO_ACCEPTCON: connections are accepted. */
function listeningInodes(proc: string, socketPath: string): readonly string[] {
  const rows = attempt(() => readFileSync(`${proc}/net/unix`, "utf8"))?.split("\n") ?? [];
  return rows.flatMap((row) => {
    const [, inode, path] = /^\S+ \S+ \S+ 00010000 \S+ \S+ +(\d+) (.*)$/.exec(row) ?? [];
    return path === socketPath ? [`socket:[${inode}]`] : [];
  });
}

/** What a descriptor refers to: a path, or `socket:[INODE]`. */
export const openOn = (proc: string, pid: number, fd: number | string): string | undefined =>
  attempt(() => readlinkSync(`${proc}/${pid}/fd/${fd}`));

export const descriptorsOf = (proc: string, pid: number): readonly string[] | undefined =>
  attempt(() => readdirSync(`${proc}/${pid}/fd`));
