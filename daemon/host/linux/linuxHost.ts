/** Linux: `/proc` describes processes and sockets, `/dev/pts` terminals. Nothing has to be started. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt } from "../attempt.ts";
import type { Host, HostTerminals } from "../host.ts";
import type { HostProcesses } from "../hostProcesses.ts";
import { descriptorsOf, listenerOf, openOn } from "./linuxSockets.ts";
import { localClients } from "../clients/localClients.ts";
import { nodeProcesses, nodeSockets, watchNames } from "../nodeSystem.ts";
import { procfs } from "../procfs.ts";

interface LinuxPlaces {
  readonly proc?: string | undefined;
  /** The directory in which terminals appear and disappear. */
  readonly terminals?: string | undefined;
}

export function linuxHost({ proc = "/proc", terminals = "/dev/pts" }: LinuxPlaces = {}): Host {
  return {
    name: "linux",
    clients: localClients,
    processes: linuxProcesses(proc),
    sockets: { ...nodeSockets, listenerOf: (path, called) => listenerOf(proc, path, called) },
    terminals: linuxTerminals(proc, terminals),
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
