/**
 * The daemon's paths, following the XDG base directory specification: sockets in the runtime directory, which the system
 * empties, the token and other lasting files in the state directory. Pure: nothing is read or created here.
 */
import { dirname, isAbsolute, join } from "node:path";

interface RuntimePaths {
  /** Sockets; created with mode 0700. */
  readonly runtimeDir: string;
  /** Files that outlive a restart; created with mode 0700. */
  readonly stateDir: string;
  /** The native API's unix socket. */
  readonly socketPath: string;
  /** The tmux server that the native API owns. */
  readonly tmuxSocketPath: string;
  readonly tokenPath: string;
  /** Deliveries by idempotency key. */
  readonly deliveriesPath: string;
  /** Agents, what was known of them, and what waits for them. */
  readonly agentsPath: string;
  /** The other machines that are served. */
  readonly hostsPath: string;
  /** Where notifications go. */
  readonly notificationsPath: string;
  /** The keys with which notifications go to browsers. */
  readonly pushKeysPath: string;
  /** Recordings of panes. */
  readonly recordingsPath: string;
  /** The user's own profiles of programs, and the screens recorded for them. */
  readonly profilesPath: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

export function runtimePaths(env: Environment, homeDir: string): RuntimePaths {
  const stateDir = join(baseDir(env["XDG_STATE_HOME"], join(homeDir, ".local", "state")), "tmuxwire");
  const runtimeDir = join(baseDir(env["XDG_RUNTIME_DIR"], dirname(stateDir)), "tmuxwire");
  return {
    runtimeDir,
    stateDir,
    socketPath: join(runtimeDir, "tmuxwire.sock"),
    tmuxSocketPath: join(runtimeDir, "tmux.sock"),
    tokenPath: join(stateDir, "token"),
    deliveriesPath: join(stateDir, "deliveries.db"),
    agentsPath: join(stateDir, "agents.db"),
    hostsPath: join(stateDir, "hosts.json"),
    notificationsPath: join(stateDir, "notifications.json"),
    pushKeysPath: join(stateDir, "pushKeys.json"),
    recordingsPath: join(stateDir, "recordings"),
    profilesPath: join(baseDir(env["XDG_CONFIG_HOME"], join(homeDir, ".config")), "tmuxwire", "profiles"),
  };
}

/** The socket of a tmux that was started without `-L` or `-S` (tmux(1), "-L"). */
export function defaultTmuxSocket(env: Environment, uid: number): string {
  const base = env["TMUX_TMPDIR"];
  return join(base === undefined || base === "" ? "/tmp" : base, `tmux-${uid}`, "default");
}

/** The tmux server we run inside, if any; otherwise the one that `tmux` without `-L` and `-S` uses. */
export function reachedTmuxSocket(env: Environment, uid: number): string {
  return /^(.+),\d+,\d+$/.exec(env["TMUX"] ?? "")?.[1] ?? defaultTmuxSocket(env, uid);
}

/** An XDG base directory; relative ones are ignored, as the specification requires. */
export const baseDir = (given: string | undefined, fallback: string): string =>
  given !== undefined && isAbsolute(given) ? given : fallback;
