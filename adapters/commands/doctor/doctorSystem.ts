/** Checks of the machine: Node, tmux, descriptors, the user session that a service needs. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { probeTmuxVersion } from "../../../daemon/connection/tmuxVersion.ts";
import { descriptorLimit } from "../../../daemon/host/descriptorLimit.ts";
import type { HostName } from "../../../daemon/host/host.ts";
import { localHost } from "../../../daemon/host/localHost.ts";
import { PTY_PACKAGE } from "../../../daemon/host/clients/ptyTransport.ts";
import { paneEnvironment } from "../../../daemon/ops/environment.ts";
import { fail, type Finding, ok, warn } from "../../serving/findings.ts";
import { ENOUGH_DESCRIPTORS, requireDescriptors } from "../../cli/descriptors.ts";
import type { Io } from "../../cli/cliIo.ts";

/** As package.json's `engines` says. */
const MIN_NODE: readonly [number, number] = [20, 19];
export function nodeCheck(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [needMajor, needMinor] = MIN_NODE;
  if (major > needMajor || (major === needMajor && minor >= needMinor))
    return ok("node", `Node ${process.versions.node}`);
  return fail("node", `Node ${process.versions.node} is too old`, `install Node ${needMajor}.${needMinor} or newer`);
}

export function descriptorCheck(): Finding {
  const limit = descriptorLimit();
  if (limit === undefined) return ok("descriptors", "no limit on open files");
  requireDescriptors(limit);
  if (limit >= ENOUGH_DESCRIPTORS) return ok("descriptors", `up to ${limit} open files`);
  return warn("descriptors", `at most ${limit} open files`, `raise the limit: run \`ulimit -n ${ENOUGH_DESCRIPTORS}\``);
}

const MORE = "see docs/platforms.md";

/** What this platform does not report; the daemon works without it. */
const UNREPORTED: Readonly<Record<HostName, string | undefined>> = {
  linux: undefined,
  darwin:
    "macOS reports processes only through `ps`, which the daemon runs once per delivery, and reports neither who listens " +
    `on a socket nor when a terminal closes; ${MORE}`,
  unknown: `unsupported system: processes, sockets and terminals are known only as far as tmux reports them; ${MORE}`,
};

/** @param isReported whether the host reports processes */
export function hostCheck(name: HostName, isReported: boolean): Finding {
  const unreported = UNREPORTED[name];
  if (unreported !== undefined) return ok("host", unreported);
  if (isReported) return ok("host", "Linux reports processes, sockets and terminals");
  return warn("host", `no /proc, so processes and sockets are unknown; ${MORE}`, "run `mount -t proc proc /proc`");
}

/** @param problem why the pty module cannot be loaded */
export function ptyCheck(problem: string | undefined): Finding {
  if (problem === undefined) return ok("terminal module", "tmux clients run on ptys and end with the daemon");
  return warn(
    "terminal module",
    `not installed (${problem}): tmux clients run on pipes, and those of a killed daemon stay until the next start`,
    `run \`npm rebuild ${PTY_PACKAGE}\` (needs a C++ compiler and Python)`,
  );
}

/** A running `systemd --user` has a socket in the runtime directory. */
export function sessionCheck({ env, platform }: Io): Finding {
  if (platform !== "linux")
    return ok(
      "user session",
      platform === "darwin" ? "services are run by launchd" : "services are not supported on this system",
    );
  const runtimeDir = env["XDG_RUNTIME_DIR"];
  if (runtimeDir === undefined || runtimeDir === "") {
    return warn(
      "user session",
      "XDG_RUNTIME_DIR is not set: sockets are below ~/.local/state, and `tmuxwire service` finds no systemd",
      "log in directly (ssh, console), or run `loginctl enable-linger`",
    );
  }
  const { uid, mode } = statSync(runtimeDir);
  if (uid !== process.getuid?.()) {
    return fail("user session", `${runtimeDir} belongs to user ${uid}`, "unset XDG_RUNTIME_DIR, or set it to your own");
  }
  if ((mode & 0o077) !== 0) {
    return warn("user session", `${runtimeDir} is accessible to other users`, `run \`chmod 700 ${runtimeDir}\``);
  }
  if (existsSync(join(runtimeDir, "systemd", "private"))) return ok("user session", "systemd runs for this user");
  return warn(
    "user session",
    "no systemd runs for this user: `tmuxwire service` does not work",
    "run `tmuxwire serve` yourself, or run `loginctl enable-linger`",
  );
}

export async function tmuxCheck({ env }: Io): Promise<Finding> {
  return ok("tmux", await probeTmuxVersion("tmux", paneEnvironment(env), localHost().clients.run));
}
