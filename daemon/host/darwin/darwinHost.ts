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
import { processListing, PS_COLUMNS } from "./processListing.ts";
import { unknownHost } from "../unknownHost.ts";
import { unknownProcesses } from "../unknownProcesses.ts";

const PS = "/bin/ps";
/** Enough for an overloaded machine with thousands of processes. */
const PS_LIMITS = { timeoutMs: 5_000, maxBytes: 8_388_608 };
/** For dates in English, and without the user's settings for other columns. */
const PS_ENV = { PATH: "/bin:/usr/bin", LC_ALL: "C" };

export function darwinHost(clients: HostClients = localClients): Host {
  const { terminals, sockets } = unknownHost(clients);
  return {
    name: "darwin",
    clients,
    processes: darwinProcesses(clients),
    sockets: { ...sockets, ...nodeSockets },
    terminals,
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
