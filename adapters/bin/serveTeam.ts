/**
 * The team contract on the native listener: a tmux server per team, made when it is first asked for, and `daemon.json`, by
 * which the extension inside pi finds the listener (docs/contracts/team.md §2, §3).
 */
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import type { TeamConfig } from "../../daemon/ops/teamConfig.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import type { Mount } from "../http/mount.ts";
import type { TeamWorker } from "../team/context.ts";
import { daemonFilePath, removeDaemonFile, writeDaemonFile } from "../team/daemonFile.ts";
import { defaultAgentId, discoverTeamd } from "../team/discovery.ts";
import { createTeamMount } from "../team/mount.ts";
import { TeamServers } from "../team/teamServers.ts";
import type { ServeOptions, StartContext } from "./serveParts.ts";
import { serverLog } from "./serveParts.ts";

export interface TeamPart {
  readonly mount: Mount;
  /** The listener is there. @throws AppError CONFIGURATION_INVALID when nothing else is served */
  announce(url: string, token: string): Promise<void>;
}

export function startTeam(context: StartContext): TeamPart {
  const { config, env, only, readiness, delivery, log, open, print } = context;
  const { team } = config;
  const { homeDir } = team;
  const servers = new TeamServers({
    rootDir: team.rootDir,
    env: paneEnvironment(env),
    clock: systemClock,
    log: (teamId) => serverLog(log, `team ${teamId}`),
  });
  open.servers.push(() => servers.close());
  const mount = createTeamMount({
    servers,
    readiness,
    delivery,
    findTeamd: (teamId) => discoverTeamd({ env, homeDir, teamId }),
    defaultAgentId: defaultAgentId(env),
    worker: workerOf(team, env),
    clock: systemClock,
    log,
  });
  const path = daemonFilePath(team.rootDir);
  return {
    mount,
    announce: async (url, token) => {
      try {
        await writeDaemonFile(path, { url, token, pid: process.pid });
      } catch (error) {
        // Whoever serves everything may have no pi at all.
        if (only.size === 1) throw error;
        log.warn("team.announce.failed", { error });
        return;
      }
      open.surfaces.push(() => removeDaemonFile(path, process.pid));
      print(`team contract at ${url}/team/v1 (told in ${path})`);
    },
  };
}

/** Not secret, and what a worker needs to find its configuration and its team. */
const WORKER_VARIABLES = ["PI_CODING_AGENT_DIR", "PI_TEAM_WORKSPACE_ROOT"];

function workerOf(
  { workerArgv, readyTimeoutMs, homeDir, passEnvironment }: TeamConfig,
  env: ServeOptions["env"],
): TeamWorker {
  // Only pi takes pi's extensions.
  const hooked = basename(workerArgv[0] ?? "") === "pi";
  const hook = fileURLToPath(new URL(`../team/readyHook${extname(import.meta.url)}`, import.meta.url));
  return {
    argv: hooked ? [...workerArgv, "-e", hook] : workerArgv,
    hooked,
    // All of it with each worker: what its tmux server was started with may be of another day.
    environment: paneEnvironment(env, [...WORKER_VARIABLES, ...passEnvironment]),
    homeDir,
    readyTimeoutMs,
  };
}
