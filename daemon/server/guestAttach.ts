/**
 * A control client of a link's own, attached to one session and nowhere else: it is verified to be where it was sent, on
 * the server that the base connection knows, and it leaves when tmux moves it (docs/tmuxFacts.md 32b).
 */
import { controlPaneOutput, displayMessage } from "../../protocol/command/build.ts";
import { decodeServerIdentity, SERVER_IDENTITY_FORMAT, type ServerIdentity } from "../../protocol/command/formats.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../protocol/limits.ts";
import { ControlConnection } from "../connection/controlConnection.ts";
import type { Clock } from "../time/clock.ts";
import { attachCommand } from "./guestBase.ts";
import type { GuestLink, LinkChannel } from "./guestLink.ts";
import { type GuestSpawn, guestSpawn } from "./guestLook.ts";

export interface AttachOptions {
  readonly spawn: GuestSpawn;
  readonly clock: Clock;
  readonly link: GuestLink;
  readonly signal: AbortSignal;
  /** The server that is meant; ids mean nothing on another. */
  readonly identity: ServerIdentity | undefined;
  readonly onNotification: (notification: Notification) => void;
}

/** @throws AppError CONNECTION_LOST when it could not be attached there. */
export async function attachLink(options: AttachOptions): Promise<LinkChannel> {
  const { spawn, clock, link, signal, identity } = options;
  const connection: ControlConnection = new ControlConnection({
    open: spawn.open,
    spawn: guestSpawn(spawn, attachCommand(link.session)),
    onOutput: (paneNumber, line, from, to) => link.takeEscaped(paneNumber, line, from, to),
    onNotification: (notification) => {
      if (notification.kind === "pause") resume(connection, link, notification.pane);
      else if (notification.kind !== "session-changed") options.onNotification(notification);
      else if (notification.session !== link.session) link.close(elsewhere());
    },
    onChunkEnd: () => link.announce(),
    onClosed: (error) => link.close(error),
  });
  const close = (): void => connection.close();
  signal.addEventListener("abort", close, { once: true });
  const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => link.close(silent()));
  try {
    const here = decodeServerIdentity((await connection.command(displayMessage(SERVER_IDENTITY_FORMAT))).body);
    const isMeant = here?.pid === identity?.pid && here?.startSec === identity?.startSec;
    if (here?.session !== link.session || !isMeant) throw elsewhere();
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    timer.cancel();
  }
  return { connection, close };
}

/** tmux dropped output (docs/tmuxFacts.md 13): a hole where somebody listens, and the pane goes on. */
export function resume(connection: ControlConnection, link: GuestLink | undefined, pane: PaneId): void {
  link?.declarePaused(pane);
  connection.send(controlPaneOutput(pane, "continue"), "none", () => undefined);
}

const silent = (): AppError => new AppError("CONNECTION_LOST", "tmux does not answer; is its process stopped?");

const elsewhere = (): AppError =>
  new AppError("CONNECTION_LOST", "the session that was watched is not there any more; list the sessions again");
