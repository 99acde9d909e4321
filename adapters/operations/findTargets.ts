/**
 * Finds what a path names: `/panes/5` is `%5`, and any other word a session's active pane; `/sessions/$3` is an id, and any
 * other word an exact name. An agent's name can stand for its pane. Nothing is guessed: an unknown target is a 404 before
 * anything is done.
 */
import type { PaneInfo, SessionInfo, WindowInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { AppError } from "../../protocol/errors.ts";
import { notFound } from "../../protocol/text/nearestName.ts";
import type { OperationContext, Targets } from "./operation.ts";
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
  const info = paneCalled(server, text);
  if (info !== undefined) return info;
  throw noPane(text, undefined, sessionNames(server));
}

/**
 * A pane of this server; else the pane of an agent that runs under this name or id, on whichever server that is.
 * @throws AppError NOT_FOUND
 */
export function findPaneOrAgent(
  { servers, agents }: Pick<OperationContext, "servers" | "agents">,
  serverName: string,
  text: string,
): Targets["pane"] {
  const named = servers.get(serverName);
  const pane = named === undefined ? undefined : paneCalled(named, text);
  if (named !== undefined && pane !== undefined) return { server: named, serverName, pane };
  const agent = agents?.running(text);
  const its = agent?.server.findPane(agent.pane);
  if (agent !== undefined && its !== undefined) {
    return { server: agent.server, serverName: agent.serverName, pane: its };
  }
  const server = findServer(servers, serverName);
  throw noPane(text, serverName, [...sessionNames(server), ...(agents?.agents() ?? []).map(({ name }) => name)]);
}

function paneCalled(server: TmuxServer, text: string): PaneInfo | undefined {
  const pane = paneNamed(server, text);
  return pane === undefined ? undefined : server.findPane(pane);
}

function noPane(text: string, serverName: string | undefined, names: readonly string[]): AppError {
  const where = serverName === undefined ? "" : ` on the server ${JSON.stringify(serverName)}`;
  return missing(`there is no pane or session ${JSON.stringify(text)}${where}; run \`tmuxwire panes\``, text, names);
}

function paneNamed(server: TmuxServer, text: string): PaneId | undefined {
  if (/^\d{1,10}$/.test(text)) return paneIdOf(Number(text));
  if (isPaneId(text)) return text;
  return sessionNamed(server, text)?.activePane;
}

const sessionNames = (server: TmuxServer): string[] => server.sessions().map(({ name }) => name);

/** No name is near to an id. */
const missing = (message: string, given: string, names: readonly string[]): AppError =>
  notFound(message, given, /^[%@$]?\d+$/.test(given) ? [] : names);

const sessionNamed = (server: TmuxServer, text: string): SessionInfo | undefined =>
  isSessionId(text) ? server.sessions().find((candidate) => candidate.id === text) : server.findSession(text);
