/** What the adapters' starts share: what they are given, and the list of what has to be closed. */
import type { Config } from "../../daemon/ops/config.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { Log, LogEvent } from "../../daemon/ops/log.ts";
import { startOwnedServer } from "../../daemon/server/ownedServer.ts";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";

import type { AdapterName } from "./adapterNames.ts";

export interface ServeOptions {
  readonly config: Config;
  readonly only: ReadonlySet<AdapterName>;
  /** The daemon's own environment; what of it reaches a pane is `paneEnvironment`'s choice. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  /** Start-up lines for a person, one per listener. */
  readonly print: (line: string) => void;
}

export interface StartContext extends ServeOptions {
  readonly waits: WaitManager;
  readonly open: OpenParts;
}

type Close = () => Promise<void> | void;

/** What is open: `surfaces` take requests and end first, all at once; `servers` are what they work on. */
export class OpenParts {
  readonly #log: Log;
  readonly surfaces: Close[] = [];
  readonly servers: Close[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  async close(): Promise<void> {
    await this.#all(this.surfaces);
    await this.#all(this.servers);
  }

  async #all(closes: readonly Close[]): Promise<void> {
    const ended = await Promise.allSettled(closes.map(async (close) => close()));
    for (const result of ended) {
      if (result.status === "rejected") this.#log.error("daemon.stop.failed", { error: result.reason as unknown });
    }
  }
}

/** A tmux server of ours on this socket, closed with the rest. */
export async function openOwnedServer(context: StartContext, name: string, socketPath: string): Promise<TmuxServer> {
  const server = await startOwnedServer({
    socketPath,
    env: paneEnvironment(context.env),
    clock: systemClock,
    log: serverLog(context.log, name),
  });
  context.open.servers.push(() => server.close());
  return server;
}

/** A server's events with its name on every line. */
export function serverLog(log: Log, server: string): (event: string, fields: object) => void {
  const named = log.with({ server });
  return (event, fields) => named.info(event as LogEvent, { ...fields });
}
