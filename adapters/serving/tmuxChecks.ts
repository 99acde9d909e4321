/** Checks of tmux servers: owned servers' sockets, hubs that a daemon left behind, guests. */
import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { localHost } from "../../daemon/host/localHost.ts";
import type { GuestConfig } from "../../daemon/ops/daemonConfig.ts";
import { paneEnvironment } from "../../daemon/ops/environment.ts";
import { HUB_PREFIX } from "../../daemon/servers/owned/hub.ts";
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

export const guestCheck = (guest: GuestConfig): Check => {
  const name = `server ${guest.name}`;
  return { name, probe: () => guestOf(name, guest) };
};

async function guestOf(check: string, { socketPath }: GuestConfig): Promise<Finding> {
  const stat = lstatSync(socketPath, { throwIfNoEntry: false });
  if (stat === undefined) return warn(check, `${socketPath} does not exist`, "start that tmux, or correct --server");
  if (!stat.isSocket()) return fail(check, `${socketPath} is not a socket`, "correct --server");
  if (stat.uid !== process.getuid?.()) {
    return fail(check, `${socketPath} belongs to user ${stat.uid}`, "offer servers of your own only");
  }
  if (await isListening(socketPath)) return ok(check, `a tmux server runs on ${socketPath}`);
  return warn(check, `no process listens on ${socketPath}`, "start that tmux again");
}

interface Listed {
  readonly name: string;
  readonly attached: number;
}

/** One listing in control mode, run as the daemon runs tmux; starts no server. */
function listSessions(path: string, env: CheckInputs["env"]): Promise<Listed[]> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const transport = localHost().clients.openShort({
      tmux: "tmux",
      args: ["-S", path, "list-sessions", "-F", "#{session_attached} #{session_name}"],
      env: paneEnvironment(env),
      cwd: "/",
      onData: (chunk) => chunks.push(Buffer.from(chunk)),
      onClose: () => {
        timer.cancel();
        resolve(Buffer.concat(chunks).toString("utf8").split("\n").flatMap(listed));
      },
    });
    const timer = systemClock.callAt(systemClock.nowMs() + LIST_WITHIN_MS, () => {
      transport.close();
      reject(new Error(`tmux on ${path} does not respond; is its process stopped? (pgrep tmux)`));
    });
  });
}

/** A hub's name has letters and digits only, so no other line of the reply can be taken for one. */
function listed(line: string): Listed[] {
  const match = /^(\d+) (\S+)$/.exec(line);
  return match === null ? [] : [{ attached: Number(match[1]), name: match[2] ?? "" }];
}
