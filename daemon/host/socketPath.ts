/**
 * Checks the path of a unix socket: in a private directory, or, for a tmux server, in a shared one where nobody can remove
 * another user's file (sticky, such as the system's temporary directory). Whoever can use the socket can type into every pane,
 * so a directory or socket that others can write to, or that is a symbolic link, is refused.
 */
import { lstatSync, mkdirSync, readdirSync, type Stats } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { MAX_SOCKET_PATH_BYTES } from "../../protocol/limits.ts";

export interface SocketPathOptions {
  /** The name of the setting that holds the path. */
  readonly setting?: string | undefined;
  /** A sticky directory is allowed, because the listener on the socket is checked (`requireOwnServer`). */
  readonly isStickyWell?: boolean | undefined;
}

/**
 * Creates a missing directory, and checks directory and socket.
 * @throws AppError CONFIGURATION_INVALID, one line that says what to do.
 */
export function prepareSocketPath(socketPath: string, options: SocketPathOptions = {}): void {
  const { setting } = options;
  const bytes = Buffer.byteLength(socketPath);
  if (!isAbsolute(socketPath)) throw refused(`tmux socket path ${socketPath} is not absolute; give an absolute path`);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw refused(
      `tmux socket path is ${bytes} bytes long, but the system allows ${MAX_SOCKET_PATH_BYTES}: choose a shorter path${withSetting(setting)}`,
    );
  }
  const directory = dirname(socketPath);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refused(
      `cannot create the tmux socket directory ${directory}: ${(error as Error).message}; choose another tmux socket path${withSetting(setting)}`,
      error,
    );
  }
  const stat = lstatSync(directory);
  if (stat.isSymbolicLink()) throw refused(`${directory} is a symbolic link; use the directory it points to`);
  if (!stat.isDirectory()) throw refused(`${directory} is not a directory; choose another tmux socket path`);
  if (!(options.isStickyWell === true && isSticky(stat))) requirePrivate(directory, stat, setting);
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (socket === undefined) return;
  if (!socket.isSocket()) throw refused(`${socketPath} exists and is not a socket; move it away`);
  requireOwn(socketPath, socket.uid, setting);
}

/**
 * Checks that the tmux server is ours, by the uid it reports and, in a shared directory, by the owner of the socket; no other
 * user could have created a socket that we own.
 * @throws AppError CONFIGURATION_INVALID
 */
function requireOwnServer(socketPath: string, uid: number | undefined, setting?: string): void {
  if (uid !== undefined) requireOwn(`the tmux server at ${socketPath}`, uid, setting);
  if (!isSticky(lstatSync(dirname(socketPath)))) return;
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (socket?.isSocket() !== true || socket.nlink !== 1) {
    throw refused(
      `${socketPath} was replaced while we connected; choose another tmux socket path${withSetting(setting)}`,
    );
  }
  requireOwn(socketPath, socket.uid, setting);
}

/** The end of a message, naming the setting to change. */
export const withSetting = (setting: string | undefined): string => (setting === undefined ? "" : ` with ${setting}`);

/** A sticky directory's owner can remove any file in it, so the owner must be root or us. */
const isSticky = ({ mode, uid }: Stats): boolean => (mode & 0o1000) !== 0 && (uid === 0 || uid === process.getuid?.());

function requirePrivate(directory: string, { uid, mode }: Stats, setting: string | undefined): void {
  requireOwn(directory, uid, setting);
  if ((mode & 0o077) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  const problem = `${directory} is accessible to others (mode ${shown})`;
  // A directory that holds more than sockets and tmux's locks has other uses, so making it private might lock others out.
  const isOurs =
    (mode & 0o1000) === 0 &&
    readdirSync(directory, { withFileTypes: true }).every((entry) => entry.isSocket() || entry.name.endsWith(".lock"));
  throw refused(
    isOurs
      ? `${problem}: run \`chmod 700 ${directory}\``
      : `${problem}: choose a directory for the socket only, which will be created if missing${withSetting(setting)}`,
  );
}

function requireOwn(what: string, uid: number, setting: string | undefined): void {
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) {
    throw refused(
      `${what} belongs to user ${uid}, not to you (${own}); choose another tmux socket path${withSetting(setting)}`,
    );
  }
}

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });

/** Paths on this machine. */
export const localPaths = {
  prepare: async (path: string, options?: SocketPathOptions): Promise<void> => prepareSocketPath(path, options),
  requireOwn: requireOwnServer,
};
