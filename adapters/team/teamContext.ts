/** The context of the team operations, and what they find by it. */
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { Agent } from "../agents/catalogue.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TeamSessionRequest } from "../../protocol/api/team.ts";
import type { CaptureTarget } from "./captureText.ts";
import { findNamed } from "./names.ts";
import { sessionNotFound, teamError } from "./teamErrors.ts";
import { type Teamd, TeamdClient } from "./teamd/teamd.ts";
import type { TeamServers } from "./teamServers.ts";

export interface TeamWorker {
  /** Its profile, and its name in the catalogue. */
  readonly agent: string;
  /** Its interactive program; executed without a shell. */
  readonly argv: readonly string[];
  /** Whether `argv` loads the hook that reports when pi is ready for a prompt. */
  readonly hooked: boolean;
  /** The variables of every worker, including PATH, in addition to its team, its name and its thread. */
  readonly environment: Readonly<Record<string, string>>;
  /** The default directory of a worker. */
  readonly homeDir: string;
  readonly readyTimeoutMs: number;
}

export interface TeamContext {
  readonly servers: TeamServers;
  readonly readiness: Pick<ReadinessWatcher, "watch">;
  readonly delivery: Pick<Delivery, "submit">;
  readonly agents: AgentDirectory;
  readonly catalogue: readonly Agent[];
  /** Finds a team's teamd if the request names none. */
  readonly findTeamd: (teamId: string) => Promise<Teamd | undefined>;
  /** The default author of posts. */
  readonly defaultAgentId: string;
  readonly worker: TeamWorker;
  readonly clock: Clock;
  readonly log: Log;
}

interface TeamdRequest {
  readonly teamId: string;
  readonly agentId?: string | undefined;
  readonly teamd?: { readonly url: string; readonly token: string } | undefined;
}

/** @throws AppError teamd_unavailable, invalid_argument */
export async function teamdOf(context: TeamContext, request: TeamdRequest): Promise<TeamdClient> {
  const { teamId, agentId = context.defaultAgentId } = request;
  const found = request.teamd ?? (await context.findTeamd(teamId));
  if (found !== undefined) return new TeamdClient({ url: found.url, token: found.token, teamId, agentId });
  throw teamError("teamd_unavailable", `found no teamd for team ${teamId}; run \`teamd --team ${teamId}\``);
}

interface FoundSession extends CaptureTarget {
  readonly session: SessionInfo;
}

/** Runs with the session of exactly this name: `worker-1` never finds `worker-10`. @throws AppError session_not_found */
export const withSession = <T>(
  { servers }: TeamContext,
  { teamId, sessionName }: Pick<TeamSessionRequest, "teamId" | "sessionName">,
  run: (found: FoundSession) => Promise<T>,
): Promise<T> =>
  servers.useIfThere(teamId, async (server) => {
    const session = server === undefined ? undefined : findNamed(server, sessionName);
    if (server === undefined || session?.activePane === undefined) throw sessionNotFound(sessionName);
    const socketPath = servers.socketPath(teamId);
    return run({ server, session, sessionName: session.name, pane: session.activePane, socketPath });
  });
