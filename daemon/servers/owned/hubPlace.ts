/**
 * A command typed in a pane without a target acts on the session with the newest activity of those that show the pane
 * (docs/tmuxFacts.md 54), and attaching makes that the hub. So before the hub is used for anything, every other session
 * is made newer again, in the order of their use, by a client that visits them and leaves. It is already detaching when it
 * gets to them, so that none is attached even for a moment: no program gets a focus event, no window is resized. All its
 * commands are on its command line: it ends by itself, whatever happens to us.
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
  /** A client that does not stay, with this command. */
  readonly visit: (command: readonly string[]) => ReturnType<typeof controlClient>;
}

/** tmux accepts 16 KB of command line from a client; of more sessions than this, the most recently used are enough. */
const MAX_SESSIONS = 300;

/** Resolves when the hub is behind every session that was there before it. */
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

/** All but hubs. The most recently used is last; of those used in the same second, the newest. */
export const sessionsByUse = (rows: readonly SessionRow[]): readonly SessionId[] =>
  rows
    .filter(({ name }) => !isHubName(name))
    .sort((a, b) => a.usedSec - b.usedSec || byAge(a.session, b.session))
    .map(({ session }) => session);

/** `if-shell` keeps one failure, of a session that has just ended, from ending the whole chain. */
const visitAll = (hub: SessionId, sessions: readonly SessionId[]): readonly string[] => {
  const visits = sessions.flatMap((session) => [";", "if-shel", "-F", "1", switchClient(session)]);
  return ["attach-sessio", "-E", "-t", hub, "-f", "ignore-size,no-output", ";", "detach-clien", ...visits];
};
