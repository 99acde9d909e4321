/** One connection to each guest server, shared by all adapters. */
import type { Log, LogEvent } from "../../daemon/ops/log.ts";
import { type OpenedGuest, openGuestServer } from "../../daemon/servers/guest/guestServer.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { OpenParts } from "./openParts.ts";

interface SharedGuestsOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly ringBytes: number;
  readonly open: OpenParts;
  readonly agents: Pick<AgentDirectory, "addServer">;
}

/** Guest servers by socket, opened when first requested. */
export class SharedGuests {
  readonly #options: SharedGuestsOptions;
  readonly #guests = new Map<string, Promise<OpenedGuest>>();

  constructor(options: SharedGuestsOptions) {
    this.#options = options;
  }

  /** Resolves once the server's inventory is known. @throws AppError TMUX_UNAVAILABLE */
  async at(socketPath: string, name: string): Promise<TmuxServer> {
    const { server, listed } = await this.opened(socketPath, name);
    await listed;
    // The name in paths: whoever opened it first may have another one for it.
    this.#options.agents.addServer(name, server);
    return server;
  }

  /** Opens the server without waiting for the connection. @throws AppError TMUX_UNAVAILABLE */
  opened(socketPath: string, name: string): Promise<OpenedGuest> {
    let guest = this.#guests.get(socketPath);
    if (guest === undefined) {
      guest = this.#open(socketPath, name);
      this.#guests.set(socketPath, guest);
      // tmux may be mended, or have been too slow.
      guest.catch(() => this.#guests.delete(socketPath));
    }
    return guest;
  }

  async #open(socketPath: string, name: string): Promise<OpenedGuest> {
    const { env, log, ringBytes, open } = this.#options;
    const guest = await openGuestServer({
      socketPath,
      env,
      ringBytes,
      clock: systemClock,
      log: serverLog(log, name),
    });
    open.servers.push(() => guest.server.close());
    this.#options.agents.addServer(name, guest.server);
    return guest;
  }
}

/** A log function that adds the server's name to every line. */
export function serverLog(log: Log, server: string): (event: string, fields: object) => void {
  const named = log.with({ server });
  return (event, fields) => named.info(event as LogEvent, { ...fields });
}
