/**
 * macOS has no `/proc` and no `/dev/pts`. Node's own functions for Unix work. Only whether a process is alive is known at
 * any moment; the rest takes one run of `ps`, when it is worth that (`HostProcesses.probe`). Who listens on a socket, and
 * when a terminal comes or goes, is unknown; the daemon relies on tmux's notifications, hooks and listings instead.
 */
import { SingleFlight } from "../../time/singleFlight.ts";
import type { Host, HostClients } from "../host.ts";
import type { HostProcesses } from "../hostProcesses.ts";
import { localClients } from "../clients/localClients.ts";
import { nodeProcesses, nodeSockets } from "../nodeSystem.ts";
import { unknownHost } from "../unknownHost.ts";
import { unknownProcesses } from "../unknownProcesses.ts";
import { basename } from "node:path";
import type { ProcessStat } from "../procfs.ts";

const PS = "/bin/ps";
/** Enough for an overloaded machine with thousands of processes. */
const PS_LIMITS = { timeoutMs: 5_000, maxBytes: 8_388_608 };
/** For dates in English, and without the user's settings for other columns. */
const PS_ENV = { PATH: "/bin:/usr/bin", LC_ALL: "C" };

export function darwinHost(clients: HostClients = localClients): Host {
  const { terminals, sockets, memory } = unknownHost(clients);
  return {
    name: "darwin",
    clients,
    processes: darwinProcesses(clients),
    sockets: { ...sockets, ...nodeSockets },
    terminals,
    memory,
  };
}

function darwinProcesses({ run }: HostClients): HostProcesses {
  const listing = new SingleFlight(async () => {
    const { failure, stdout } = await run(PS, ["-axo", PS_COLUMNS], PS_ENV, PS_LIMITS);
    listed = failure === undefined ? { ...processes, ...processListing(stdout) } : processes;
  });
  const processes: HostProcesses = {
    ...unknownProcesses,
    ...nodeProcesses,
    probe: async () => {
      await listing.now();
      return listed;
    },
  };
  let listed = processes;
  return processes;
}

/**
 * Parses a `ps` listing: the processes at one moment. The command line comes last, without word boundaries, so a word that
 * contains a space becomes several. Lines that are not rows are skipped.
 */
/** Known to the `ps` of macOS, the BSDs and Linux. `=`: no heading. */
const PS_COLUMNS = ["pid", "ppid", "uid", "pgid", "tpgid", "tty", "state", "lstart", "args"]
  .map((column) => `${column}=`)
  .join(",");

const NUMBER = String.raw`\s*(-?\d+)`;
const ROW = new RegExp(
  `^${NUMBER.repeat(5)}${String.raw`\s+(\S+)\s+(\S)\S*\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s+(.*)$`}`,
);
/** The same limit as for command lines read from the kernel. */
const MAX_COMMAND_LINE = 4_096;

interface Listed extends ProcessStat {
  readonly owner: number;
  readonly words: readonly string[];
}

type Listing = Pick<
  HostProcesses,
  "reportsNow" | "isThere" | "stat" | "statNow" | "words" | "wordsNow" | "children" | "childrenNow" | "owner"
>;

/** @param text what `ps -axo PS_COLUMNS` has printed */
function processListing(text: string): Listing {
  const all = new Map(text.split("\n").flatMap((line) => rowOf(line)));
  const childrenOf = (pid: number): readonly number[] =>
    [...all.values()].filter(({ parent }) => parent === pid).map((child) => child.pid);
  return {
    reportsNow: all.size > 0,
    isThere: async () => all.size > 0,
    stat: async (pid) => all.get(pid),
    statNow: (pid) => all.get(pid),
    words: async (pid) => all.get(pid)?.words,
    wordsNow: (pid) => all.get(pid)?.words,
    owner: async (pid) => all.get(pid)?.owner,
    children: async (pid) => childrenOf(pid),
    childrenNow: childrenOf,
  };
}

function rowOf(line: string): readonly (readonly [number, Listed])[] {
  const match = ROW.exec(line);
  if (match === null) return [];
  const [pid = 0, parent = 0, owner = 0, group = 0, foregroundGroup = 0] = match.slice(1, 6).map(Number);
  const [tty = "", state = "", start = "", command = ""] = match.slice(6);
  const words = command.slice(0, MAX_COMMAND_LINE).trim().split(/\s+/);
  const stat: Listed = {
    pid,
    name: basename(words[0] ?? ""),
    state,
    parent,
    group,
    // Only whether there is one matters; `?` and `??` mean none.
    terminal: tty.startsWith("?") ? 0 : 1,
    // Without a terminal, `ps` prints 0 or -1.
    foregroundGroup: foregroundGroup <= 0 ? -1 : foregroundGroup,
    // Not a number: with the pid it identifies a process, but it cannot be compared with other times.
    start: start.replaceAll(/\s+/g, " "),
    owner,
    words,
  };
  return [[pid, stat]];
}
