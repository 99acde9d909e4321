/**
 * A command typed in a pane without a target acts on the most recently active session that contains the pane
 * (docs/tmuxFacts.md 54), and attaching makes that the hub. So before the hub is used, a short-lived client visits every other
 * session, in the order of their last use, which makes them more recent again. The client is already detaching when it gets
 * to them, so no session counts as attached: no program gets a focus event and no window is resized. All its commands are on
 * its command line, so it ends by itself, whatever happens to us.
 */
import { listSessions, switchClient } from "../../../protocol/command/build.ts";
import { type SessionRow, SESSIONS } from "../../../protocol/command/formats.ts";
import { byAge, type SessionId } from "../../../protocol/ids.ts";
import { GUEST_ATTACH_WITHIN_MS } from "../../../protocol/limits.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Clock } from "../../time/clock.ts";
import type { controlClient } from "../introduction.ts";
import { isHubName } from "./hub.ts";

interface HubPlaceOptions {
  readonly connection: ControlConnection;
  readonly clock: Clock;
  readonly hub: SessionId;
  /** Opens a short-lived client with this command. */
  readonly visit: (command: readonly string[]) => ReturnType<typeof controlClient>;
}

/** tmux accepts a command line of 16 KB from a client; if there are more sessions, only the most recently used are visited. */
const MAX_SESSIONS = 300;

/** Resolves when the hub is less recent than every session that existed before it. */
export async function putHubLast({ connection, clock, hub, visit }: HubPlaceOptions): Promise<void> {
  const sessions = sessionsByUse(await connection.foreignRows(SESSIONS, listSessions));
  if (sessions.length === 0) return;
  const { open, spawn } = visit(visitAll(hub, sessions.slice(-MAX_SESSIONS)));
  await new Promise<void>((resolve) => {
    const transport = open({
      ...spawn,
      onData: () => undefined,
      onClose: () => {
        timer.cancel();
        resolve();
      },
    });
    const timer = clock.callAt(clock.nowMs() + GUEST_ATTACH_WITHIN_MS, () => transport.close());
  });
}

/** All sessions except hubs, the most recently used last; those used in the same second are sorted by age. */
export const sessionsByUse = (rows: readonly SessionRow[]): readonly SessionId[] =>
  rows
    .filter(({ name }) => !isHubName(name))
    .sort((a, b) => a.usedSec - b.usedSec || byAge(a.session, b.session))
    .map(({ session }) => session);

/** `if-shell` keeps a failure for a session that has just ended from aborting the whole chain. */
const visitAll = (hub: SessionId, sessions: readonly SessionId[]): readonly string[] => {
  const visits = sessions.flatMap((session) => [";", "if-shel", "-F", "1", switchClient(session)]);
  return ["attach-sessio", "-E", "-t", hub, "-f", "ignore-size,no-output", ";", "detach-clien", ...visits];
};
