/** How a guest begins: which tmux, which socket, how its control clients start, and that it waits for a server. */
import { localHost } from "../../host/localHost.ts";
import { paneEnvironment } from "../../ops/environment.ts";
import { GuestServer, type GuestServerOptions } from "./guestServer.ts";
import { reachedTmuxSocket } from "../../ops/runtimePaths.ts";
import { GuestTmux } from "./guestTmux.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";

export interface OpenedGuest {
  /** `connecting` until it is listed. */
  readonly server: TmuxServer;
  /** What is there has been listed, or there was nothing to list; never rejects. */
  readonly listed: Promise<void>;
}

/**
 * Finds the server and begins to list what is there. When there is none, or no tmux to connect with, waits for it with the
 * state `connecting`, and calls that need it fail with a reason (`details.reason`: `tmux_not_installed`,
 * `tmux_not_running`). @throws AppError TMUX_UNAVAILABLE when tmux is too old.
 */
export async function openGuestServer(options: GuestServerOptions): Promise<OpenedGuest> {
  const env = paneEnvironment(options.env);
  const tmux = options.tmux ?? "tmux";
  const host = options.host ?? localHost();
  const program = new GuestTmux(tmux, env, host.clients.run);
  await program.find();
  const socketPath =
    options.socketPath === "default" ? reachedTmuxSocket(options.env, process.getuid?.() ?? 0) : options.socketPath;
  const { transport } = options;
  const [open, openDirect] = transport === undefined ? [host.clients.open, host.clients.openDirect] : [transport];
  const spawn = { host, open, openDirect, tmux, program, env, socketPath };
  const server = new GuestServer(options, spawn);
  return { server, listed: server.start() };
}
