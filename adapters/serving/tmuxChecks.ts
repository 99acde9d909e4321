/** Checks of tmux servers: owned servers' sockets, hubs that a daemon left behind, guests. */
import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { localHost } from "../../daemon/host/localHost.ts";
import type { GuestConfig } from "../../daemon/ops/daemonConfig.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { HUB_PREFIX } from "../../daemon/servers/owned/hub.ts";
import { introductionTo } from "../../daemon/servers/introduction.ts";
import { prepareSocketPath } from "../../daemon/servers/socketPath.ts";
import { systemClock } from "../../daemon/time/clock.ts";
import { type Check, type CheckInputs, fail, type Finding, ok, warn } from "./findings.ts";
import { isListening } from "./socketProbe.ts";

/** A healthy tmux lists its sessions within this. */
const LIST_WITHIN_MS = 3_000;

/** An owned server: its socket, and what daemons have left there. */
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
  // `prepareSocketPath` would make the directory: a missing one is not checked further.
  if (!existsSync(dirname(path))) return ok(check, `${path}; its directory will be made`);
  prepareSocketPath(path, { setting, isStickyWell: true });
  if (!existsSync(path)) return ok(check, `${path}, no server yet`);
  return ok(
    check,
    (await isListening(path)) ? `a tmux server runs on ${path}` : `${path} was left by a server that is gone`,
  );
}

/** A hub without a client was left by a daemon that was killed; the next start removes it. */
async function hubsOf(check: string, path: string, env: CheckInputs["env"]): Promise<Finding> {
  if (!existsSync(path) || !(await isListening(path))) return ok(check, "no server, no hubs");
  const hubs = (await listSessions(path, env)).filter(({ name }) => name.startsWith(HUB_PREFIX));
  const stale = hubs.filter(({ attached }) => attached === 0);
  if (stale.length > 0) {
    return warn(check, `left behind: ${stale.map(({ name }) => name).join(", ")}`, "start the daemon: it removes them");
  }
  return ok(check, hubs.length === 0 ? "none: no daemon holds this server" : "held by a running daemon");
}

export const guestCheck = (guest: GuestConfig, env: CheckInputs["env"]): Check => {
  const name = `server ${guest.name}`;
  return { name, probe: () => guestOf(name, guest, env) };
};

async function guestOf(check: string, { socketPath }: GuestConfig, env: CheckInputs["env"]): Promise<Finding> {
  const stat = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stat === undefined) return warn(check, `${socketPath} does not exist`, "start that tmux, or correct --server");
  if (!stat.isSocket()) return fail(check, `${socketPath} is not a socket`, "correct --server");
  if (stat.uid !== process.getuid?.()) {
    return fail(check, `${socketPath} belongs to user ${stat.uid}`, "offer servers of your own only");
  }
  if (!(await isListening(socketPath))) {
    return warn(check, `no process listens on ${socketPath}`, "start that tmux again");
  }
  const runs = `a tmux server runs on ${socketPath}`;
  const version = (await printed(socketPath, env, ["display-message", "-p", "#{version}"])).trim();
  const introduction = introductionTo(version, localHost().clients.openDirect !== undefined);
  // One that another version listens to does not say which.
  if (version === "" || introduction === "any") return ok(check, runs);
  const crashes = `tmux before 3.7, and this is ${version}, can crash when a control client attaches while sessions come and go`;
  if (introduction === "direct")
    return ok(check, `${runs}; ${crashes}: ours cannot do that, those of other programs can until it is 3.7`);
  return warn(check, `${runs}; ${crashes}: ours wait until it is calm`, "upgrade tmux to 3.7");
}

interface Listed {
  readonly name: string;
  readonly attached: number;
}

async function listSessions(path: string, env: CheckInputs["env"]): Promise<Listed[]> {
  const rows = await printed(path, env, ["list-sessions", "-F", "#{session_attached} #{session_name}"]);
  return rows.split("\n").flatMap(listed);
}

/** What a plain client prints: a control client could end the server (docs/tmuxFacts.md 50). It starts no server. */
async function printed(path: string, env: CheckInputs["env"], command: readonly string[]): Promise<string> {
  const { run } = localHost().clients;
  const started = systemClock.nowMs();
  const args = ["-u", "-N", "-S", path, ...command];
  const { stdout } = await run("tmux", args, paneEnvironment(env), { timeoutMs: LIST_WITHIN_MS });
  if (systemClock.nowMs() - started < LIST_WITHIN_MS) return stdout;
  throw new Error(`tmux on ${path} does not respond; is its process stopped? (pgrep tmux)`);
}

/** A hub's name has letters and digits only, so no other line of the reply can be taken for one. */
function listed(line: string): Listed[] {
  const match = /^(\d+) (\S+)$/.exec(line);
  return match === null ? [] : [{ attached: Number(match[1]), name: match[2] ?? "" }];
}
