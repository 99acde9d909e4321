/** Makes a session on an owned server, in one step with everything that must hold from its program's first moment on. */
import { newSession, setPaneOption, setWindowOption } from "../../protocol/command/build.ts";
import { lines } from "../../protocol/command/formats.ts";
import { isSessionId, type SessionId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { tmuxSessionName } from "./inventory.ts";
import { lingering } from "./linger.ts";
import { markOf } from "./paneMarks.ts";
import { creationError } from "./sessionRules.ts";
import type { CreateSession } from "./tmuxServer.ts";

const DEFAULT_COLS = 80;
const DEFAULT_ROWS = 24;

/** @throws AppError ALREADY_EXISTS, RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST */
export async function makeSession(
  connection: ControlConnection,
  request: CreateSession,
): Promise<SessionId | undefined> {
  const { name } = request;
  const keep = request.remainOnExit === true;
  const linger = keep && request.direct !== true;
  const make = newSession({
    name,
    cwd: request.cwd,
    command: linger && request.command !== undefined ? lingering(request.command) : request.command,
    environment: request.environment,
    windowName: request.windowName,
    cols: request.cols ?? DEFAULT_COLS,
    rows: request.rows ?? DEFAULT_ROWS,
    format: "#{session_id}",
  });
  // In one step with the making, so that the shortest program is kept too (docs/tmuxFacts.md 34).
  const made = `=${tmuxSessionName(name)}:` as const;
  const keepIt = keep ? [setWindowOption(made, "remain-on-exit", "on")] : [];
  const marks = Object.entries(request.marks ?? {}).map(([mark, value]) => {
    const { option, text = "" } = markOf(mark, value);
    return setPaneOption(made, option, text);
  });
  try {
    const [reply] = await connection.group([make, ...keepIt, ...marks]);
    return lines(reply?.body ?? new Uint8Array(0)).find(isSessionId);
  } catch (error) {
    throw creationError(name, error);
  }
}
