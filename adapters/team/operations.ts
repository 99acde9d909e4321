/** What is done with workers that exist: nothing here starts or attaches anything. */
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import {
  TEAM_DEFAULT_CAPTURE_LINES,
  type TeamAttach,
  type TeamCapture,
  type TeamCaptureRequest,
  type TeamListRequest,
  type TeamDone,
  type TeamSession,
  type TeamSessionRequest,
  type TeamSessions,
} from "../../protocol/api/team.ts";
import { nativeAgent } from "../operations/agentOutputs.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import { captureText } from "./captureText.ts";
import { onTmux } from "./teamErrors.ts";
import { attachArgv, hasPrefix, shellLine } from "./names.ts";
import { capturePost } from "./posts.ts";
import { sessionEnd } from "./sessionEnd.ts";
import type { TeamdOf } from "./teamd/discovery.ts";
import type { TeamServers } from "./teamServers.ts";
import { readRecords } from "./start/startRecord.ts";

export function listSessions(
  servers: TeamServers,
  agents: AgentDirectory,
  { teamId, sessionPrefix }: TeamListRequest,
): Promise<TeamSessions> {
  return servers.useIfThere(teamId, async (server) => {
    if (server === undefined) return { sessions: [] };
    const command = `tmux -f /dev/null -S ${servers.socketPath(teamId)} list-clients`;
    const terminals = await onTmux(command, () => server.terminals());
    const records = await onTmux(command, () => readRecords(server));
    agents.check();
    const row = (session: SessionInfo): TeamSession => {
      const { id, name, windows, createdSec, activePane: pane } = session;
      const agent = pane && agents.inPane(server, pane);
      const known = agent && nativeAgent(agent);
      const record = pane && records.get(pane);
      return {
        name,
        windows: windows.length,
        createdAt: new Date(createdSec * 1_000).toISOString(),
        ...sessionEnd({ server, session }),
        attached: terminals.get(id) ?? 0,
        thread: record?.threadId ?? null,
        worker: known?.name ?? null,
        agent: known?.agent ?? null,
        state: known?.state ?? null,
        since: known?.sinceUnixMs == null ? null : new Date(known.sinceUnixMs).toISOString(),
        task: known?.task?.text ?? record?.prompt?.start ?? null,
        cwd: known?.cwd ?? null,
      };
    };
    const sessions = server.sessions().filter((session) => hasPrefix(session.name, sessionPrefix));
    return { sessions: sessions.map(row) };
  });
}

export const attachTo = (servers: TeamServers, request: TeamSessionRequest): Promise<TeamAttach> =>
  servers.withSession(request, async ({ sessionName, socketPath }) => {
    const argv = attachArgv(socketPath, sessionName);
    return { sessionName, socketPath, argv, command: shellLine(argv) };
  });

export async function captureSession(
  servers: TeamServers,
  teamdOf: TeamdOf,
  request: TeamCaptureRequest,
): Promise<TeamCapture> {
  const { threadId, lines = TEAM_DEFAULT_CAPTURE_LINES } = request;
  const capture = await servers.withSession(request, (found) => captureText(found, lines));
  if (threadId === undefined) return capture;
  await (await teamdOf(request)).post(threadId, capturePost(capture));
  return { ...capture, posted: true };
}

/** Ends the worker and its session, whatever it is doing. */
export const killWorker = (servers: TeamServers, request: TeamSessionRequest): Promise<TeamDone> =>
  servers.withSession(request, async ({ server, session, sessionName, socketPath }) => {
    await onTmux(`tmux -S ${socketPath} kill-session -t =${sessionName}`, () => server.killSession(session.id));
    return { sessionName, ok: true };
  });
