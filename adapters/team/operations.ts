/** List, attach and capture: they read over the existing connection, and neither start nor attach anything. */
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import {
  TEAM_DEFAULT_CAPTURE_LINES,
  type TeamAttach,
  type TeamAttachRequest,
  type TeamCapture,
  type TeamCaptureRequest,
  type TeamListRequest,
  type TeamSession,
  type TeamSessions,
} from "../../protocol/api/team.ts";
import { captureText } from "./captureText.ts";
import { type TeamContext, teamdOf } from "./teamContext.ts";
import { onTmux, sessionNotFound } from "./teamErrors.ts";
import { attachArgv, findNamed, hasPrefix, shellLine } from "./names.ts";
import { capturePost } from "./posts.ts";
import { sessionEnd } from "./sessionEnd.ts";

export function listSessions(
  { servers }: TeamContext,
  { teamId, sessionPrefix }: TeamListRequest,
): Promise<TeamSessions> {
  return servers.useIfThere(teamId, async (server) => {
    if (server === undefined) return { sessions: [] };
    const command = `tmux -f /dev/null -S ${servers.socketPath(teamId)} list-clients`;
    const terminals = await onTmux(command, () => server.terminals());
    const sessions = server.sessions().filter((session) => hasPrefix(session.name, sessionPrefix));
    return { sessions: sessions.map((session) => sessionRow(server, session, terminals.get(session.id) ?? 0)) };
  });
}

export function attachTo({ servers }: TeamContext, request: TeamAttachRequest): Promise<TeamAttach> {
  const { teamId } = request;
  return servers.useIfThere(teamId, async (server) => {
    const { name } = findSession(server, request.sessionName);
    const socketPath = servers.socketPath(teamId);
    const argv = attachArgv(socketPath, name);
    return { sessionName: name, socketPath, argv, command: shellLine(argv) };
  });
}

export async function captureSession(context: TeamContext, request: TeamCaptureRequest): Promise<TeamCapture> {
  const { servers } = context;
  const { teamId, threadId, lines = TEAM_DEFAULT_CAPTURE_LINES } = request;
  const capture = await servers.useIfThere(teamId, async (server) => {
    const { name, activePane: pane } = findSession(server, request.sessionName);
    if (server === undefined || pane === undefined) throw sessionNotFound(name);
    return captureText({ server, socketPath: servers.socketPath(teamId), sessionName: name, pane }, lines);
  });
  if (threadId === undefined) return capture;
  await (await teamdOf(context, request)).post(threadId, capturePost(capture));
  return { ...capture, posted: true };
}

/** The session of exactly this name: `worker-1` never finds `worker-10`. @throws AppError session_not_found */
function findSession(server: TmuxServer | undefined, name: string): SessionInfo {
  const session = server === undefined ? undefined : findNamed(server, name);
  if (session === undefined) throw sessionNotFound(name);
  return session;
}

const sessionRow = (server: TmuxServer, session: SessionInfo, attached: number): TeamSession => ({
  name: session.name,
  windows: session.windows.length,
  createdAt: new Date(session.createdSec * 1_000).toISOString(),
  ...sessionEnd(server, session),
  attached,
});
