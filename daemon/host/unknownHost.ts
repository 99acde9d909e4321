/** A host that can only start tmux and knows nothing else; every part of the daemon must work with it. */
import type { Host, HostClients } from "./host.ts";
import { localClients } from "./clients/localClients.ts";
import { localPaths } from "./socketPath.ts";
import { nothing, nothingLater, unknownProcesses } from "./unknownProcesses.ts";

export const unknownHost = (clients: HostClients = localClients): Host => ({
  name: "unknown",
  clients,
  processes: unknownProcesses,
  sockets: { exists: nothing, connect: nothingLater, watch: nothing, listenerOf: nothing, ...localPaths },
  terminals: { watch: nothing, isInputOf: nothing, isHeldBy: nothing },
  memory: nothing,
});
