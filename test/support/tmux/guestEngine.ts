/** The engine for guests, for processes that tests write as they need them. Built with the programs (`bundlePrograms.mjs`). */
import { type GuestServerOptions, openGuestServer } from "../../../daemon/servers/guest/guestServer.ts";
import type { TmuxServer } from "../../../daemon/tmux/tmuxServer.ts";

export { systemClock } from "../../../daemon/time/clock.ts";

/** A guest once it is listed, or once there was nothing to list. @throws AppError TMUX_UNAVAILABLE when tmux is too old. */
export async function startGuestServer(options: GuestServerOptions): Promise<TmuxServer> {
  const { server, listed } = await openGuestServer(options);
  await listed;
  return server;
}
