/**
 * A control client, attached to one session and nowhere else: it is verified to be where it was sent, on
 * the server that the base connection knows, and it leaves when tmux moves it (docs/tmuxFacts.md 32b).
 */
import { continuePane } from "../../../protocol/command/build.ts";
import type { ServerIdentity } from "../../../protocol/command/formats.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import { notResponding } from "../../connection/connectionErrors.ts";
import { ControlConnection } from "../../connection/controlConnection.ts";
import { introduce } from "../../connection/tmuxFeatures.ts";
import type { Clock } from "../../time/clock.ts";
import type { AttachGate } from "./attachGate.ts";
import { type AttachClient, type AttachChannel, orAborted } from "./attachClient.ts";
import { attachCommand, guestClient, type GuestSpawn } from "./guestProbe.ts";

interface AttachOptions {
  readonly spawn: GuestSpawn;
  readonly clock: Clock;
  readonly client: AttachClient;
  readonly signal: AbortSignal;
  /** The server that is meant; ids mean nothing on another. */
  readonly identity: ServerIdentity | undefined;
  readonly gate: AttachGate;
  readonly onNotification: (notification: Notification) => void;
}

/** @throws AppError CONNECTION_LOST when it could not be attached there. */
export async function startAttachClient(options: AttachOptions): Promise<AttachChannel> {
  const { spawn, clock, client, signal, identity, gate } = options;
  const entering = gate.enter(signal);
  if (gate.waiting !== undefined) client.heldBack();
  const arrived = await entering;
  const connection: ControlConnection = new ControlConnection({
    ...guestClient(spawn, attachCommand(client.session), gate.server),
    onOutput: (paneNumber, line, from, to) => client.takeEscaped(paneNumber, line, from, to),
    onNotification: (notification) => {
      gate.noticed(notification);
      if (notification.kind === "pause") resume(connection, client, notification.pane);
      else if (notification.kind !== "session-changed") options.onNotification(notification);
      else if (notification.session !== client.session) client.close(elsewhere());
    },
    onChunkEnd: () => client.announce(),
    onClosed: (error) => {
      gate.disturbed();
      client.close(error);
    },
  });
  const introduced = introduce(connection);
  const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => connection.close(notResponding()));
  const settled = (): void => {
    timer.cancel();
    arrived();
  };
  introduced.then(settled, settled);
  // Even one that is no longer wanted stays until tmux has replied to it.
  const close = (): void => gate.leave(() => connection.close());
  try {
    const here = await orAborted(introduced, signal);
    const isMeant = here?.pid === identity?.pid && here?.startSec === identity?.startSec;
    if (here?.session !== client.session || !isMeant) throw elsewhere();
  } catch (error) {
    close();
    throw error;
  }
  return { connection, close };
}

/** tmux dropped output (docs/tmuxFacts.md 13): declares a hole where somebody listens, and resumes the pane. */
export function resume(connection: ControlConnection, client: AttachClient | undefined, pane: PaneId): void {
  client?.declarePaused(pane);
  connection.send(continuePane(pane), "none", () => undefined);
}

const elsewhere = (): AppError =>
  new AppError("CONNECTION_LOST", "the session no longer exists; list the sessions again");
