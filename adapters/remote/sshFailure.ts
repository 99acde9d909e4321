/**
 * Why a host is not connected, from how ssh ended and what it printed. `details.state` of the error is one of `HostFailure`;
 * only `unreachable` passes by itself, and every message says what to do about the others.
 */
import { AppError } from "../../protocol/errors.ts";
import type { HostInfo } from "./hostInfo.ts";
import { readHostInfo } from "./hostInfo.ts";

export type HostFailure =
  | "auth_needed"
  | "host_key_new"
  | "host_key_changed"
  | "unreachable"
  | "no_tmuxwire"
  | "no_tmux"
  | "version"
  | "refused";

/** Not mended by trying again, which might lock the account. */
export const stays = (error: AppError): boolean => error.details?.["state"] !== "unreachable";

/** In messages. */
export interface NamedHost {
  readonly name: string;
  readonly destination: string;
}

const MAX_FOREIGN_CHARS = 200;

/** What ssh or the host printed last, as one line. */
function foreign(printed: string): string {
  const lines = printed.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*\n/gu, "\n").trim();
  const last = lines.slice(lines.lastIndexOf("\n") + 1).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ");
  return last.slice(0, MAX_FOREIGN_CHARS).replace(/\p{Cs}$/u, "");
}

const withForeign = (printed: string): string => (foreign(printed) === "" ? "" : ` (${foreign(printed)})`);

const hostFailure = ({ name }: NamedHost, state: HostFailure, message: string): AppError =>
  new AppError("DAEMON_UNREACHABLE", message, { details: { host: name, state } });

export const lostConnection = (host: NamedHost, printed: string): AppError =>
  hostFailure(
    host,
    "unreachable",
    `the connection to ${host.name} was lost${withForeign(printed)}; it is being restored`,
  );

/** ssh's own words, which no locale changes (sshconnect.c, sshconnect2.c). */
const CHANGED = /^@ +WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! +@\r?$/m;
const UNKNOWN_KEY = /^Host key verification failed\.\r?$/m;
const NO_LOGIN =
  /: Permission denied \([^)]*\)\.\r?$|^Received disconnect from .*: Too many authentication failures\r?$/m;

/** The master ended before it was connected. */
export function connectFailure(host: NamedHost, exitCode: number | undefined, stderr: string): AppError {
  const { name, destination } = host;
  if (CHANGED.test(stderr)) {
    return hostFailure(
      host,
      "host_key_changed",
      `the host key of ${name} is not the one that ssh knows: find out why, and if it is right run \`ssh-keygen -R\` for it and \`ssh ${destination}\` once`,
    );
  }
  if (UNKNOWN_KEY.test(stderr)) {
    return hostFailure(
      host,
      "host_key_new",
      `ssh does not know the host key of ${name}: run \`ssh ${destination}\` once, and accept the key if it is right`,
    );
  }
  if (NO_LOGIN.test(stderr)) {
    return hostFailure(
      host,
      "auth_needed",
      `${name} refuses the login without a question${withForeign(stderr)}: log in once with \`tmuxwire hosts login ${name}\`, or load your key with \`ssh-add\``,
    );
  }
  if (exitCode === 127)
    return hostFailure(host, "unreachable", "ssh is not installed on this machine: install OpenSSH");
  return hostFailure(
    host,
    "unreachable",
    `cannot connect to ${name}${withForeign(stderr)}: check with \`ssh ${destination}\`; it is tried again`,
  );
}

/** How the command on the host ended. */
export interface CommandEnd {
  /** A number is the exit code. */
  readonly code: number | string | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Exit code of a command line that this version would not refuse (`ERROR_SURFACES`). */
const USAGE = 2;
/** Of a shell that cannot run a program, and that finds none. */
const NOT_RUN: ReadonlySet<unknown> = new Set([126, 127]);

export type ReachedHost = HostInfo & { readonly token: string };

/** The master's words when sshd takes no further session (channels.c). Nothing was run. */
export const SESSION_REFUSED = /Session open refused by peer/;

/** sshd takes one session at a time. */
export const oneSession = (host: NamedHost): AppError =>
  hostFailure(
    host,
    "refused",
    `${host.name} lets ssh run only one command at a time: set MaxSessions to 2 or more in its sshd_config, or install tmuxwire there, which needs one`,
  );

/** What was asked of a host without tmuxwire did not say what it has. */
export function bareHostFailure(host: NamedHost, { stderr }: Pick<CommandEnd, "stderr">): AppError {
  if (SESSION_REFUSED.test(stderr)) return noSession(host);
  return hostFailure(
    host,
    "unreachable",
    `${host.name} does not say which tmux it has${withForeign(stderr)}: check with \`ssh ${host.destination} tmux -V\`; it is tried again`,
  );
}

/** @param found what its tmux said of itself; undefined: there is none */
export const bareTmuxFailure = (host: NamedHost, found: string | undefined): AppError =>
  hostFailure(
    host,
    "no_tmux",
    found === undefined
      ? `${host.name} has no tmux on the PATH that commands get over ssh: install tmux 3.2 or newer there, or give its path there with --program`
      : `${host.name} has no tmux that can be used${withForeign(found)}: install tmux 3.2 or newer there, or give its path there with --program`,
  );

const noSession = (host: NamedHost): AppError =>
  hostFailure(host, "refused", `${host.name} lets ssh run no command: set MaxSessions to 1 or more in its sshd_config`);

/** What the host said of itself. @throws AppError DAEMON_UNREACHABLE */
export function hostInfoOf(host: NamedHost, { code, stdout, stderr }: CommandEnd): ReachedHost {
  const { name, destination } = host;
  const info = readHostInfo(stdout);
  if (info === "unknown" || (info === "absent" && code === USAGE)) {
    const message = `tmuxwire on ${name} is of another version${withForeign(stderr)}: install the same one on both machines`;
    throw hostFailure(host, "version", message);
  }
  if (info !== "absent") {
    const { token } = info;
    if (token !== null) return { ...info, token };
    throw hostFailure(
      host,
      "no_tmux",
      `${name} has no tmux on the PATH that commands get over ssh, which start-up files of a login shell do not extend: install tmux 3.2 or newer there`,
    );
  }
  if (SESSION_REFUSED.test(stderr)) {
    throw noSession(host);
  }
  if (code === 0 || NOT_RUN.has(code)) {
    throw hostFailure(
      host,
      "no_tmuxwire",
      `${name} has no tmuxwire on the PATH that commands get over ssh${withForeign(stderr)}: run \`ssh ${destination} npm install -g tmuxwire\`, or give its path there with --program`,
    );
  }
  throw hostFailure(
    host,
    "unreachable",
    `the daemon on ${name} cannot be started${withForeign(stderr)}; it is tried again`,
  );
}

/**
 * The master's line about a connection through it that the host does not take (channels.c). sshd gives the same reason when it
 * may not connect to a unix socket as when nobody listens there (serverloop.c).
 */
export const OPEN_FAILED = /^channel \d+: open failed: .*/m;

/**
 * A connection through the forwarded socket was closed at once, although the host has just said that its daemon listens.
 * @param printed by the master since it connected, or about the request
 */
export function forwardFailure(host: NamedHost, printed: string): AppError {
  const { name } = host;
  const [refusal] = OPEN_FAILED.exec(printed) ?? [];
  if (refusal !== undefined) {
    return hostFailure(
      host,
      "refused",
      `${name} does not forward its daemon's unix socket${withForeign(refusal)}: set AllowStreamLocalForwarding to yes in its sshd_config`,
    );
  }
  return hostFailure(
    host,
    "unreachable",
    `the daemon on ${name} does not respond${withForeign(printed)}; it is tried again`,
  );
}
