/**
 * Finds what a path names: `/panes/5` is `%5`, and any other word a session's active pane; `/sessions/$3` is an id, and any
 * other word an exact name. Nothing is guessed: an unknown target is a 404 before anything is done.
 */
import type { PaneInfo, SessionInfo, WindowInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { AppError } from "../../protocol/errors.ts";
import { nearestName } from "./nearestName.ts";
import { isPaneId, isSessionId, isWindowId, type PaneId, paneIdOf } from "../../protocol/ids.ts";

/** @throws AppError NOT_FOUND */
export function findServer(servers: ReadonlyMap<string, TmuxServer>, name: string): TmuxServer {
  const server = servers.get(name);
  if (server !== undefined) return server;
  throw missing(`there is no server ${JSON.stringify(name)}; run \`tmuxwire servers\``, name, [...servers.keys()]);
}

/** @throws AppError NOT_FOUND */
export function findSession(server: TmuxServer, text: string): SessionInfo {
  const session = sessionNamed(server, text);
  if (session !== undefined) return session;
  throw missing(`there is no session ${JSON.stringify(text)}; run \`tmuxwire sessions\``, text, sessionNames(server));
}

/** `@3`, the window of a pane such as `%5`, or a session's active window. @throws AppError NOT_FOUND */
export function findWindow(server: TmuxServer, text: string): WindowInfo {
  const id = isWindowId(text)
    ? text
    : isPaneId(text)
      ? server.findPane(text)?.window
      : sessionNamed(server, text)?.activeWindow;
  const window = server.windows().find((candidate) => candidate.id === id);
  if (window !== undefined) return window;
  const message = `there is no window, pane or session ${JSON.stringify(text)}; run \`tmuxwire windows\``;
  throw missing(message, text, sessionNames(server));
}

/** @throws AppError NOT_FOUND */
export function findPane(server: TmuxServer, text: string): PaneInfo {
  const pane = paneNamed(server, text);
  const info = pane === undefined ? undefined : server.findPane(pane);
  if (info !== undefined) return info;
  throw missing(
    `there is no pane or session ${JSON.stringify(text)}; run \`tmuxwire panes\``,
    text,
    sessionNames(server),
  );
}

function paneNamed(server: TmuxServer, text: string): PaneId | undefined {
  if (/^\d{1,10}$/.test(text)) return paneIdOf(Number(text));
  if (isPaneId(text)) return text;
  return sessionNamed(server, text)?.activePane;
}

const sessionNames = (server: TmuxServer): string[] => server.sessions().map(({ name }) => name);

/** Keeps the nearest name in `details`, so that a surface for people can suggest it. */
function missing(message: string, given: string, names: readonly string[]): AppError {
  const nearest = isId(given) ? undefined : nearestName(given, names);
  return new AppError("NOT_FOUND", message, nearest === undefined ? {} : { details: { nearest } });
}

const isId = (text: string): boolean => /^[%@$]?\d+$/.test(text);

const sessionNamed = (server: TmuxServer, text: string): SessionInfo | undefined =>
  isSessionId(text) ? server.sessions().find((candidate) => candidate.id === text) : server.findSession(text);
