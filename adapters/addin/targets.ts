/**
 * Which session and pane a request means: exactly the one it names, or a 404 before anything is typed or killed. A session
 * that ends while a request is under way gives the same response, whichever part of the server noticed first.
 */
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";

export interface Target {
  /** As the client called it. */
  readonly name: string;
  readonly session: SessionInfo;
  readonly pane: PaneId;
}

const sessionNotFound = (name: string, cause?: unknown): AppError =>
  new AppError("NOT_FOUND", `Session not found: ${name}`, { cause });

/** @throws AppError NOT_FOUND */
export function findSession(server: TmuxServer, name: string): SessionInfo {
  const session = server.findSession(name);
  if (session === undefined) throw sessionNotFound(name);
  return session;
}

/** @throws AppError NOT_FOUND */
export function findTarget(server: TmuxServer, name: string): Target {
  const session = findSession(server, name);
  if (session.activePane === undefined) throw sessionNotFound(name);
  return { name, session, pane: session.activePane };
}

/** Runs what needs the session and says it is gone in the client's words. */
export async function onSession<T>(name: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") throw sessionNotFound(name, error);
    throw error;
  }
}
