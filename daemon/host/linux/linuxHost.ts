/** Linux: `/proc` describes processes and sockets, `/dev/pts` terminals. Nothing has to be started. */
import { existsSync, readdirSync, readFileSync, readlinkSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../attempt.ts";
import type { Host, HostTerminals } from "../host.ts";
import type { HostProcesses } from "../hostProcesses.ts";
import { localClients } from "../clients/localClients.ts";
import { nodeProcesses, nodeSockets, watchNames } from "../nodeSystem.ts";
import { procfs } from "../procfs.ts";
import { localPaths } from "../socketPath.ts";

interface LinuxPlaces {
  readonly proc?: string | undefined;
  /** The directory in which terminals appear and disappear. */
  readonly terminals?: string | undefined;
  /** Where every user may have a folder, in memory (tmpfs(5)). */
  readonly memory?: string | undefined;
}

/** Of a file system in memory (statfs(2)). */
const TMPFS_MAGIC = 0x01021994;

export function linuxHost({ proc = "/proc", terminals = "/dev/pts", memory = "/dev/shm" }: LinuxPlaces = {}): Host {
  return {
    name: "linux",
    clients: localClients,
    processes: linuxProcesses(proc),
    sockets: { ...nodeSockets, ...localPaths, listenerOf: (path, called) => listenerOf(proc, path, called) },
    terminals: linuxTerminals(proc, terminals),
    memory: () => (attempt(() => statfsSync(memory))?.type === TMPFS_MAGIC ? memory : undefined),
  };
}

function linuxProcesses(proc: string): HostProcesses {
  const processes: HostProcesses = {
    ...procfs(proc),
    ...nodeProcesses,
    reportsNow: existsSync(`${proc}/self/stat`),
    owner: async (pid) => {
      const [, uid] = /^Uid:\t(\d+)/m.exec(attempt(() => readFileSync(`${proc}/${pid}/status`, "latin1")) ?? "") ?? [];
      return uid === undefined ? undefined : Number(uid);
    },
    programOf: (pid) => `${proc}/${pid}/exe`,
    probe: async () => processes,
  };
  return processes;
}

/** Names that appear and disappear, and who has either end open (proc(5), fdinfo). */
const linuxTerminals = (proc: string, directory: string): HostTerminals => ({
  watch: (listener) =>
    watchNames(directory, (kind, name) => {
      // "change" means that a program wrote; "rename" that a terminal appeared or disappeared.
      if (kind !== "rename") return;
      listener(name !== null && existsSync(join(directory, name)) ? "came" : "gone");
    }),
  isInputOf: (terminal, pid) => {
    const input = openOn(proc, pid, 0);
    return input === undefined ? undefined : input === terminal;
  },
  isHeldBy: (terminal, pid) => {
    const [, number] = /^\/dev\/pts\/(\d{1,9})$/.exec(terminal) ?? [];
    if (number === undefined) return undefined;
    const info = new RegExp(`^tty-index:\\s*${number}$`, "m");
    return descriptorsOf(proc, pid)?.some(
      (fd) =>
        openOn(proc, pid, fd)?.endsWith("/ptmx") === true &&
        info.test(attempt(() => readFileSync(`${proc}/${pid}/fdinfo/${fd}`, "latin1")) ?? ""),
    );
  },
});

/**
 * Finds the process that listens on a unix socket: `/proc/net/unix` has the socket, `/proc/PID/fd` its owner (proc(5)). A
 * process that is gone meanwhile or not readable is skipped.
 * Searches the processes that we may read, which are those of our user.
 */
function listenerOf(proc: string, socketPath: string, called = ""): number | undefined {
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
const openOn = (proc: string, pid: number, fd: number | string): string | undefined =>
  attempt(() => readlinkSync(`${proc}/${pid}/fd/${fd}`));

const descriptorsOf = (proc: string, pid: number): readonly string[] | undefined =>
  attempt(() => readdirSync(`${proc}/${pid}/fd`));
