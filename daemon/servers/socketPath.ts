/**
 * The socket of an owned server: in a directory that is ours alone, or, for a tmux server, in one that everybody shares and
 * where nobody can remove another's file (sticky, such as the system's temporary directory). Whoever can reach the
 * socket can type into every pane, so a directory or socket that others can write, or that leads elsewhere, is refused.
 */
import { lstatSync, mkdirSync, readdirSync, type Stats } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { MAX_SOCKET_PATH_BYTES } from "../../protocol/limits.ts";

interface SocketPathOptions {
  /** The name of the setting that holds the path. */
  readonly setting?: string | undefined;
  /** A sticky directory will do: whoever listens on the socket is checked (`requireOwnServer`). */
  readonly isStickyWell?: boolean | undefined;
}

/**
 * Makes the directory when it is missing and checks both.
 * @throws AppError CONFIGURATION_INVALID, one line that says what to do.
 */
export function prepareSocketPath(socketPath: string, options: SocketPathOptions = {}): void {
  const { setting } = options;
  const bytes = Buffer.byteLength(socketPath);
  if (!isAbsolute(socketPath)) throw refused(`tmux socket path ${socketPath} is not absolute; give a full path`);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw refused(
      `tmux socket path is ${bytes} bytes long and the system allows ${MAX_SOCKET_PATH_BYTES}: choose a shorter directory${withSetting(setting)}`,
    );
  }
  const directory = dirname(socketPath);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refused(
      `cannot make the tmux socket directory ${directory}: ${(error as Error).message}; choose another tmux socket path${withSetting(setting)}`,
      error,
    );
  }
  const stat = lstatSync(directory);
  if (stat.isSymbolicLink()) throw refused(`${directory} is a symbolic link; use the directory it leads to`);
  if (!stat.isDirectory()) throw refused(`${directory} is not a directory; choose another tmux socket path`);
  if (!(options.isStickyWell === true && isSticky(stat))) requirePrivate(directory, stat, setting);
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (socket === undefined) return;
  if (!socket.isSocket()) throw refused(`${socketPath} exists and is not a socket; move it away`);
  requireOwn(socketPath, socket.uid, setting);
}

/**
 * Whoever listens there is ours: by its own word, and in a directory that others share by the kernel's, which says whose
 * the socket is; nobody else could have put a socket of ours there.
 * @throws AppError CONFIGURATION_INVALID
 */
export function requireOwnServer(socketPath: string, uid: number | undefined, setting?: string): void {
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

/** As the end of a message that says what to choose. */
export const withSetting = (setting: string | undefined): string => (setting === undefined ? "" : ` with ${setting}`);

/** Its owner can remove anything in it, so that must be root or us. */
const isSticky = ({ mode, uid }: Stats): boolean => (mode & 0o1000) !== 0 && (uid === 0 || uid === process.getuid?.());

function requirePrivate(directory: string, { uid, mode }: Stats, setting: string | undefined): void {
  requireOwn(directory, uid, setting);
  if ((mode & 0o077) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  const problem = `${directory} can be read by others (mode ${shown})`;
  // One that holds more than sockets and tmux's locks is not for us alone: closing it might lock others out.
  const isOurs =
    (mode & 0o1000) === 0 &&
    readdirSync(directory, { withFileTypes: true }).every((entry) => entry.isSocket() || entry.name.endsWith(".lock"));
  throw refused(
    isOurs
      ? `${problem}: run chmod 700 ${directory}`
      : `${problem}: choose a directory for the socket alone, which is made when it is missing${withSetting(setting)}`,
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
