/** Checks of tmux servers: owned servers' sockets, hubs that a daemon left behind, guest servers. */
import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { releaseOf } from "../../daemon/connection/tmuxVersion.ts";
import { localHost } from "../../daemon/host/localHost.ts";
import type { GuestConfig } from "../../daemon/ops/daemonConfig.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { HUB_PREFIX } from "../../daemon/servers/owned/hub.ts";
import { introductionTo } from "../../daemon/servers/introduction.ts";
import { prepareSocketPath } from "../../daemon/host/socketPath.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { type Check, type CheckInputs, fail, type Finding, ok, warn } from "./findings.ts";
import { isListening } from "./socketProbe.ts";

/** A healthy tmux lists its sessions within this time. */
const LIST_WITHIN_MS = 3_000;

/** Checks of an owned server: its socket, and hubs that daemons left behind. */
export const ownTmuxChecks = (
  name: string,
  path: string,
  setting: string,
  env: CheckInputs["env"],
): readonly Check[] => [
  { name, probe: () => socketOf(name, path, setting) },
  { name: `${name} hubs`, probe: () => hubsOf(`${name} hubs`, path, env) },
];

async function socketOf(check: string, path: string, setting: string): Promise<Finding> {
  // `prepareSocketPath` would make a missing directory, so that is not checked further.
  if (!existsSync(dirname(path))) return ok(check, `${path}; its directory will be created`);
  prepareSocketPath(path, { setting, isStickyWell: true });
  if (!existsSync(path)) return ok(check, `${path}, no server yet`);
  return ok(
    check,
    (await isListening(path)) ? `a tmux server runs on ${path}` : `${path} was left behind by a dead server`,
  );
}

/** A hub without a client was left behind by a killed daemon; the next start removes it. */
async function hubsOf(check: string, path: string, env: CheckInputs["env"]): Promise<Finding> {
  if (!existsSync(path) || !(await isListening(path))) return ok(check, "no server, no hubs");
  const hubs = (await listSessions(path, env)).filter(({ name }) => name.startsWith(HUB_PREFIX));
  const stale = hubs.filter(({ attached }) => attached === 0);
  if (stale.length > 0) {
    return warn(
      check,
      `left behind: ${stale.map(({ name }) => name).join(", ")}`,
      "start the daemon, which removes them",
    );
  }
  return ok(check, hubs.length === 0 ? "none: no daemon uses this server" : "held by a running daemon");
}

export const guestCheck = (guest: GuestConfig, env: CheckInputs["env"]): Check => {
  const name = `server ${guest.name}`;
  return { name, probe: () => guestOf(name, guest, env) };
};

async function guestOf(check: string, { socketPath }: GuestConfig, env: CheckInputs["env"]): Promise<Finding> {
  const stat = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stat === undefined)
    return warn(check, `${socketPath} does not exist`, "start that tmux server, or correct --server");
  if (!stat.isSocket()) return fail(check, `${socketPath} is not a socket`, "correct --server");
  if (stat.uid !== process.getuid?.()) {
    return fail(check, `${socketPath} belongs to user ${stat.uid}`, "name only servers of your own with --server");
  }
  if (!(await isListening(socketPath))) {
    return warn(check, `no process listens on ${socketPath}`, "start that tmux server again");
  }
  const version = (await printed(socketPath, env, ["display-message", "-p", "#{version}"])).trim();
  // docs/tmuxFacts.md 16.
  const respawns =
    (releaseOf(version) ?? Infinity) < 308
      ? `; let tmuxwire respawn a pane that prints without pause: tmux ${version}'s own respawn-pane -k can crash it while its output is followed`
      : "";
  const runs = `a tmux server runs on ${socketPath}${respawns}`;
  const introduction = introductionTo(version, localHost().clients.openDirect !== undefined);
  // An empty version means that a client of this version cannot talk to it.
  if (version === "" || introduction === "any") return ok(check, runs);
  const crashes = `tmux before 3.7 (this is ${version}) can crash when a control client attaches while sessions are created or killed`;
  if (introduction === "direct")
    return ok(
      check,
      `${runs}; ${crashes}: the daemon's clients avoid this, those of other programs may not until it is 3.7`,
    );
  return warn(check, `${runs}; ${crashes}: the daemon's clients wait until nothing changes`, "upgrade tmux to 3.7");
}

interface Listed {
  readonly name: string;
  readonly attached: number;
}

async function listSessions(path: string, env: CheckInputs["env"]): Promise<Listed[]> {
  const rows = await printed(path, env, ["list-sessions", "-F", "#{session_attached} #{session_name}"]);
  return rows.split("\n").flatMap(listed);
}

/** The output of a plain client, because a control client could crash the server (docs/tmuxFacts.md 50). Starts no server. */
async function printed(path: string, env: CheckInputs["env"], command: readonly string[]): Promise<string> {
  const { run } = localHost().clients;
  const started = systemClock.nowMs();
  const args = ["-u", "-N", "-S", path, ...command];
  const { stdout } = await run("tmux", args, paneEnvironment(env), { timeoutMs: LIST_WITHIN_MS });
  if (systemClock.nowMs() - started < LIST_WITHIN_MS) return stdout;
  throw new Error(`tmux on ${path} does not respond; check with \`pgrep tmux\` whether its process is stopped`);
}

/** A hub's name has only letters and digits, so no other line of the reply can be mistaken for one. */
function listed(line: string): Listed[] {
  const match = /^(\d+) (\S+)$/.exec(line);
  return match === null ? [] : [{ attached: Number(match[1]), name: match[2] ?? "" }];
}
