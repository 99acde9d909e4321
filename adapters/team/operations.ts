/** What is done with workers that exist: nothing here starts or attaches anything. */
import {
  TEAM_DEFAULT_CAPTURE_LINES,
  type TeamAttach,
  type TeamCapture,
  type TeamCaptureRequest,
  type TeamListRequest,
  type TeamDone,
  type TeamSendRequest,
  type TeamSent,
  type TeamSession,
  type TeamSessionRequest,
  type TeamSessions,
  type TeamWaited,
  type TeamWaitRequest,
} from "../../protocol/api/team.ts";
import { interruptTurn, tellAgent, waitForAgent } from "../operations/agents/agentMessageOperations.ts";
import { nativeAgent } from "../operations/agents/agentOutputs.ts";
import type { RunningAgent } from "../agents/running/runningAgent.ts";
import { captureText } from "./captureText.ts";
import { onTmux, teamError, withKey } from "./teamErrors.ts";
import { attachArgv, capturePost, hasPrefix, shellLine } from "./names.ts";
import { sessionEnd, type TeamPlace } from "./teamServers.ts";
import { readRecords } from "./start/startRecord.ts";
import { PI, type TeamParts, untilExitReported } from "./start/worker.ts";
import { guardPrompt } from "./start/workerPrompt.ts";

export function listSessions(
  { servers, agents }: TeamParts,
  { teamId, sessionPrefix }: TeamListRequest,
): Promise<TeamSessions> {
  return servers.useIfThere(teamId, async (server) => {
    if (server === undefined) return { sessions: [] };
    const command = `tmux -f /dev/null -S ${servers.socketPath(teamId)} list-clients`;
    const terminals = await onTmux(command, () => server.terminals());
    const records = await readRecords(server);
    agents.check();
    const row = (place: TeamPlace): TeamSession => {
      const { session, pane, record } = place;
      const { id, name, windows, createdSec } = session;
      const agent = agents.inPane(server, pane);
      const known = agent && nativeAgent(agent);
      return {
        name,
        windows: windows.length,
        createdAt: new Date(createdSec * 1_000).toISOString(),
        ...sessionEnd(place),
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
    return { sessions: sessions.flatMap((session) => servers.place(teamId, server, session, records) ?? []).map(row) };
  });
}

export const attachTo = ({ servers }: TeamParts, request: TeamSessionRequest): Promise<TeamAttach> =>
  servers.withSession(request, async ({ sessionName, socketPath }) => {
    const argv = attachArgv(socketPath, sessionName);
    return { sessionName, socketPath, argv, command: shellLine(argv) };
  });

export async function captureSession(
  { servers, teamdOf }: TeamParts,
  request: TeamCaptureRequest,
): Promise<TeamCapture> {
  const { threadId, lines = TEAM_DEFAULT_CAPTURE_LINES } = request;
  const capture = await servers.withSession(request, (found) => captureText(found, lines));
  if (threadId === undefined) return capture;
  await (await teamdOf(request)).post(threadId, capturePost(capture));
  return { ...capture, posted: true };
}

/** Ends the worker and its session, whatever it is doing. */
export const killWorker = ({ servers }: TeamParts, request: TeamSessionRequest): Promise<TeamDone> =>
  servers.withSession(request, async ({ server, session, sessionName, socketPath }) => {
    await onTmux(`tmux -S ${socketPath} kill-session -t =${sessionName}`, () => server.killSession(session.id));
    return { sessionName, ok: true };
  });

/** @throws AppError worker_not_running, TIMEOUT, and what telling an agent throws */
export async function sendToWorker(
  workers: TeamParts,
  { message, when, ttlSec, wait = "taken", timeoutMs, idempotencyKey, ...place }: TeamSendRequest,
  signal: AbortSignal,
): Promise<TeamSent> {
  const { sessionName, agent } = await runningIn(workers, place);
  // The hook takes the guard away again.
  const text = agent.kind.name === PI ? guardPrompt(message) : message;
  const asked = { text, when, ttlSec, wait, timeoutMs, orAsking: wait === "done" };
  const told = await withKey(() => tellAgent(workers.messages, agent, asked, { idempotencyKey, signal }));
  const { id: messageId, outcome, reason, lastWords, question } = told;
  return { sessionName, messageId, outcome, reason, lastWords, question: question?.text ?? null };
}

/** @throws AppError worker_not_running, unless that is waited for; TIMEOUT */
export async function waitForWorker(
  workers: TeamParts,
  { for: wanted = ["done", "asking", "ended"], stalledSec, timeoutMs, ...place }: TeamWaitRequest,
  signal: AbortSignal,
): Promise<TeamWaited> {
  const found = await placeOf(workers, place);
  const { sessionName } = found;
  const mayHaveEnded = wanted.includes("ended");
  if (mayHaveEnded && found.agent === undefined && hasEnded(found)) {
    return { sessionName, reached: "ended", question: null, lastWords: null, elapsedMs: 0 };
  }
  const agent = mayHaveEnded && found.agent !== undefined ? found.agent : requireAgent(found);
  const waited = await waitForAgent(workers, agent, { for: [...wanted], stalledSec, timeoutMs }, signal);
  const { reached, lastWords, elapsedMs } = waited;
  return { sessionName, reached, question: waited.agent.question?.text ?? null, lastWords, elapsedMs };
}

/** @throws AppError worker_not_running, and what interrupting an agent throws */
export async function interruptWorker(workers: TeamParts, request: TeamSessionRequest): Promise<TeamDone> {
  const { sessionName, agent } = await runningIn(workers, request);
  await interruptTurn(workers.delivery, agent, "team");
  return { sessionName, ok: true };
}

type PlaceRequest = Pick<TeamSessionRequest, "teamId" | "sessionName">;
/** With the agent that runs there, or ended lately. */
type Found = TeamPlace & { readonly agent: RunningAgent | undefined };

/** The team's server is not kept in use by what may wait for long: an agent that runs there does that. */
const placeOf = ({ servers, agents, clock }: TeamParts, request: PlaceRequest): Promise<Found> =>
  servers.withSession(request, async (place) => {
    const { server, pane } = place;
    agents.check();
    const agent = agents.lastInPane(server, pane);
    // One that ended before it was seen.
    if (agent === undefined) await untilExitReported(server, pane, clock);
    return { ...place, agent };
  });

const runningIn = async (workers: TeamParts, request: PlaceRequest) => {
  const found = await placeOf(workers, request);
  return { ...found, agent: requireAgent(found) };
};

const hasEnded = ({ server, pane }: TeamPlace): boolean => server.findPane(pane)?.exit !== undefined;

/** @throws AppError worker_not_running */
function requireAgent(found: Found): RunningAgent {
  const { sessionName, agent } = found;
  if (agent !== undefined && agent.endedUnixMs === undefined) return agent;
  throw teamError(
    "worker_not_running",
    agent !== undefined || hasEnded(found)
      ? `the worker in session ${sessionName} has ended; capture it to see why, or restart it`
      : `no agent runs in session ${sessionName}; capture it to see what does`,
  );
}
