/** Linux: `/proc` describes processes and sockets, `/dev/pts` terminals. Nothing has to be started. */
import { existsSync, readFileSync } from "node:fs";
import { attempt } from "../attempt.ts";
import type { Host } from "../host.ts";
import type { HostProcesses } from "../hostProcesses.ts";
import { listenerOf } from "./linuxSockets.ts";
import { linuxTerminals } from "./linuxTerminals.ts";
import { localClients } from "../clients/localClients.ts";
import { nodeProcesses, nodeSockets } from "../nodeSystem.ts";
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
