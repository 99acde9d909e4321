/**
 * The socket of an owned server: in a directory that is ours alone, or not at all. Whoever can reach the socket can type
 * into every pane, so a directory or socket that others can write, or that leads elsewhere, is refused.
 */
import { lstatSync, mkdirSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { AppError } from "../../protocol/errors.ts";
import { MAX_SOCKET_PATH_BYTES } from "../../protocol/limits.ts";

/**
 * Makes the directory when it is missing and checks both.
 * @throws AppError CONFIGURATION_INVALID, one line that says what to do.
 */
export function prepareSocketPath(socketPath: string): void {
  const bytes = Buffer.byteLength(socketPath);
  if (!isAbsolute(socketPath)) throw refused(`tmux socket path ${socketPath} is not absolute; give a full path`);
  if (bytes > MAX_SOCKET_PATH_BYTES) {
    throw refused(
      `tmux socket path is ${bytes} bytes long and the system allows ${MAX_SOCKET_PATH_BYTES}: choose a shorter directory`,
    );
  }
  const directory = dirname(socketPath);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refused(`cannot make the tmux socket directory ${directory}: ${(error as Error).message}`, error);
  }
  const stat = lstatSync(directory);
  if (stat.isSymbolicLink()) throw refused(`${directory} is a symbolic link; use the directory it leads to`);
  if (!stat.isDirectory()) throw refused(`${directory} is not a directory; choose another tmux socket path`);
  requireOwn(directory, stat.uid);
  if ((stat.mode & 0o077) !== 0) {
    throw refused(`${directory} can be read by others (mode ${modeOf(stat.mode)}): run chmod 700 ${directory}`);
  }
  const socket = lstatSync(socketPath, { throwIfNoEntry: false });
  if (socket === undefined) return;
  if (!socket.isSocket()) throw refused(`${socketPath} exists and is not a socket; move it away`);
  requireOwn(socketPath, socket.uid);
}

function requireOwn(path: string, uid: number): void {
  const own = process.getuid?.();
  if (own !== undefined && uid !== own) {
    throw refused(`${path} belongs to user ${uid}, not to you (${own}); choose another tmux socket path`);
  }
}

const modeOf = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

const refused = (message: string, cause?: unknown): AppError =>
  new AppError("CONFIGURATION_INVALID", message, { cause });
