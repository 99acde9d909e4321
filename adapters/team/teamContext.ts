/** What the team operations work with. */
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import { teamError } from "./teamErrors.ts";
import { type Teamd, TeamdClient } from "./teamd.ts";
import type { TeamServers } from "./teamServers.ts";

export interface TeamWorker {
  /** argv of an interactive pi; nothing of it passes a shell. */
  readonly argv: readonly string[];
  /** Whether `argv` loads the hook that says when pi takes a prompt. */
  readonly hooked: boolean;
  /** Variables of every worker, PATH among them, besides its team, its name and its thread. */
  readonly environment: Readonly<Record<string, string>>;
  /** The default directory of a worker. */
  readonly homeDir: string;
  readonly readyTimeoutMs: number;
}

export interface TeamContext {
  readonly servers: TeamServers;
  readonly readiness: Pick<ReadinessWatcher, "watch">;
  readonly delivery: Pick<Delivery, "submit">;
  /** A team's teamd by default. */
  readonly findTeamd: (teamId: string) => Promise<Teamd | undefined>;
  /** Who posts by default. */
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
  throw teamError("teamd_unavailable", `no teamd was found for team ${teamId}; start it with teamd --team ${teamId}`);
}
