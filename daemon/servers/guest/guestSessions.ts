/**
 * Sessions of the user's that are made or ended on request, as `tmux new-session -d` and `tmux kill-session` would: with
 * the server's environment and not ours, with the sizes and options of the user's configuration, and an option set only
 * on the window that was made.
 */
import { type JustMade, setWindowOption, writeNothingAtExit } from "../../../protocol/command/build.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import type { Clock } from "../../time/clock.ts";
import type { SessionToMake } from "../sessionMaking.ts";
import type { CreateSession } from "../../tmux/inventory.ts";
import type { TmuxServer } from "../../tmux/tmuxServer.ts";

export function guestSession({ name, cwd, command, cols, rows }: CreateSession, keep: boolean): SessionToMake {
  const keepIt = (made: JustMade): string => setWindowOption(made, "remain-on-exit", "on");
  const setUp = keep ? [keepIt, writeNothingAtExit] : [];
  return { name, cwd, command, cols, rows, updateEnvironment: false, setUp };
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
