/**
 * Checks whether a connection was lost because its server ended. When somebody kills the server, tmux sends a client only
 * `%exit`, and its socket accepts connections until the process is gone; so the process is checked a few times soon after.
 */
import { meansServerEnded } from "../connection/connectionErrors.ts";
import type { AppError } from "../../protocol/errors.ts";
import type { Host } from "../host/host.ts";
import type { Clock } from "../time/clock.ts";
import { meansGone, trySocket } from "./guest/guestSocket.ts";

/** A killed server needs some milliseconds to end; if it takes longer, the next attempt to connect finds out. */
const PROBE_AFTER_MS = [1, 2, 4, 8, 16, 32];

interface LostServer {
  readonly host: Host;
  readonly clock: Clock;
  readonly lost: AppError;
  readonly socketPath: string;
  /** The server's pid, if it is known to be on the host. */
  readonly pid?: number | undefined;
  /** Called once if the server is known to have ended. */
  readonly onEnded: () => void;
}

export function probeForEnd(server: LostServer, tries = 0): void {
  const { host, clock, lost, pid, socketPath, onEnded } = server;
  if (meansServerEnded(lost) || (pid !== undefined && host.processes.isAlive(pid) === false)) {
    onEnded();
    return;
  }
  const decide = (refusal: AppError | undefined): void => {
    const delayMs = PROBE_AFTER_MS[tries];
    if (refusal !== undefined && meansGone(refusal)) onEnded();
    else if (delayMs !== undefined) clock.callAt(clock.nowMs() + delayMs, () => probeForEnd(server, tries + 1));
  };
  void trySocket(host.sockets, socketPath).then(decide);
}
