/** The context of the team operations. */
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { teamError } from "./teamErrors.ts";
import { type Teamd, TeamdClient } from "./teamd/teamd.ts";
import type { TeamServers } from "./teamServers.ts";

export interface TeamWorker {
  /** The argv of an interactive pi; executed without a shell. */
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
