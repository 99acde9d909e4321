/**
 * Sessions of the user's that are made or ended on request, as `tmux new-session -d` and `tmux kill-session` would: with
 * the server's environment and not ours, with the sizes and options of the user's configuration, and an option set only
 * on the window that was made.
 */
import { type JustMade, killSession, setWindowOption, writeNothingAtExit } from "../../../protocol/command/build.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { Clock } from "../../time/clock.ts";
import { endedAtOnce } from "../endedAtOnce.ts";
import type { GuestInventory } from "./guestInventory.ts";
import { makeSession } from "../sessionMaking.ts";
import { duplicate, requireSessionName, isKept } from "../sessionRules.ts";
import type { CreateSession, SessionInfo } from "../../tmux/inventory.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";

interface Connected {
  /** @throws AppError CONNECTION_LOST */
  connection(): ControlConnection;
}

/** @throws AppError ALREADY_EXISTS, INVALID_ARGUMENT, RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST */
export async function createGuestSession(
  server: Connected,
  inventory: GuestInventory,
  request: CreateSession,
): Promise<SessionInfo> {
  const { name, cwd, command, cols, rows } = request;
  requireSessionName(name);
  if (inventory.known.findSession(name) !== undefined) throw duplicate(name);
  const keep = (made: JustMade): string => setWindowOption(made, "remain-on-exit", "on");
  const connection = server.connection();
  const made = await makeSession(connection, {
    name,
    cwd,
    command,
    cols,
    rows,
    updateEnvironment: false,
    setUp: isKept(request, connection.features) ? [keep, writeNothingAtExit] : [],
  });
  await inventory.refresh();
  const session = made === undefined ? undefined : inventory.known.session(made);
  if (session !== undefined) return session;
  throw await endedAtOnce(connection, `session ${name}`, command);
}

/** The server and the connection go with the last session: at most this long after tmux has replied. */
const SERVER_ENDS_WITHIN_MS = 2_000;

/** Resolves when the session is known to be gone, or after a bounded time. */
export function sessionClosed(server: Pick<TmuxServer, "subscribe">, session: SessionId, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      unsubscribe();
      resolve();
    };
    const timer = clock.callAt(clock.nowMs() + SERVER_ENDS_WITHIN_MS, end);
    const unsubscribe = server.subscribe((event) => {
      if (event.kind === "session-closed" && event.session === session) end();
    });
  });
}

/** @throws AppError CONNECTION_LOST */
export async function killGuestSession(server: Connected, session: SessionId): Promise<void> {
  try {
    await server.connection().command(killSession(session), "none");
  } catch (error) {
    // It went by itself.
    if (!(error instanceof AppError && error.code === "TMUX_COMMAND_FAILED")) throw error;
  }
}
