/**
 * The team contract on the native listener: a tmux server per team, started on the first request, and `daemon.json`, which
 * tells the extension inside pi where the listener is (docs/contracts/team.md §2, §3).
 */
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { serverLog } from "../serving/sharedGuests.ts";
import { type MountedPart, serveUnconfigured, type StartContext } from "../serving/startContext.ts";
import { daemonFilePath, removeDaemonFile, writeDaemonFile } from "./teamd/daemonFile.ts";
import { PI, type TeamWorker, workerFinder } from "./start/worker.ts";
import { teamdFinder } from "./teamd/discovery.ts";
import { createTeamMount } from "./teamMount.ts";
import { TeamServers } from "./teamServers.ts";
import type { TeamConfig } from "./teamConfig.ts";

export function mountTeam(team: TeamConfig, context: StartContext): MountedPart {
  const { env, only, agentWork, delivery, agents, messages, catalogue, log, open, print } = context;
  const servers = new TeamServers({
    rootDir: team.rootDir,
    env: paneEnvironment(env),
    clock: systemClock,
    ringBytes: context.daemon.ringBytes,
    log: (teamId) => serverLog(log, `team ${teamId}`),
    onConnected: (teamId, server) => serveUnconfigured(context, `team-${teamId}`, server),
    hasAgents: (server) => agents.agents().some((agent) => agent.server === server),
  });
  open.servers.push(() => servers.close());
  const mount = createTeamMount({
    servers,
    starts: agentWork.starts,
    delivery,
    agents,
    messages,
    teamdOf: teamdFinder({ env, homeDir: team.homeDir }),
    workerOf: workerFinder(ownWorker(team, env), catalogue),
    clock: systemClock,
    log,
  });
  const path = daemonFilePath(team.rootDir);
  return {
    mount,
    announce: async (url, token) => {
      if (!team.announcesToPi) {
        const how = "announce it with `tmuxwire enable team` permanently, or `tmuxwire serve --with team` once";
        print(`team contract at ${url}/team/v1; not announced to pi in ${path}: ${how}`);
        return;
      }
      try {
        await writeDaemonFile(path, { url, token, pid: process.pid });
      } catch (error) {
        // Not fatal when everything is served: the user may not have pi at all.
        if (only.size === 1) throw error;
        log.warn("team.announce.failed", { error });
        return;
      }
      open.surfaces.push(() => removeDaemonFile(path, process.pid));
      print(`team contract at ${url}/team/v1 (announced in ${path})`);
    },
  };
}

/** Variables without secrets that a worker needs to find its configuration and its team. */
const WORKER_VARIABLES = ["PI_CODING_AGENT_DIR", "PI_TEAM_WORKSPACE_ROOT"];

function ownWorker(
  { workerArgv, readyTimeoutMs, homeDir, passEnvironment }: TeamConfig,
  env: StartContext["env"],
): TeamWorker {
  // Only pi loads pi's extensions.
  const hooked = basename(workerArgv[0] ?? "") === "pi";
  const hook = fileURLToPath(new URL(`../team/readyHook${extname(import.meta.url)}`, import.meta.url));
  return {
    agent: PI,
    argv: hooked ? [...workerArgv, "-e", hook] : workerArgv,
    hooked,
    // Passed whole with each worker, because its tmux server may have been started with other values.
    environment: paneEnvironment(env, [...WORKER_VARIABLES, ...passEnvironment]),
    homeDir,
    readyTimeoutMs,
  };
}
