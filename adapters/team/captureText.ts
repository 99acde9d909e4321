/** A worker's screen and history as text: what tmux itself would print, cut only where the contract says so. */
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import { TEAM_MAX_CAPTURE_LINES, type TeamCapture } from "../../protocol/api/team.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { onTmux, sessionNotFound } from "./errors.ts";

export interface CaptureTarget {
  readonly server: TmuxServer;
  readonly socketPath: string;
  readonly sessionName: string;
  readonly pane: PaneId;
}

/** @throws AppError tmux_error, session_not_found */
export async function captureText(target: CaptureTarget, requestedLines: number): Promise<TeamCapture> {
  const rows = await printedRows(target, Math.min(requestedLines, TEAM_MAX_CAPTURE_LINES));
  const truncated = requestedLines > TEAM_MAX_CAPTURE_LINES;
  // Up to here it is tmux's: the history asked for and the whole screen below it.
  const kept = truncated ? rows.slice(-TEAM_MAX_CAPTURE_LINES) : rows;
  const marker = truncated ? [`[truncated to ${TEAM_MAX_CAPTURE_LINES} lines]`] : [];
  const text = [...kept, ...marker].join("\n");
  return { sessionName: target.sessionName, lines: kept.length, requestedLines, text, truncated };
}

/** The last lines that hold something, for the answer to a start. */
export async function initialCapture(target: CaptureTarget, requestedLines: number): Promise<TeamCapture> {
  const rows = [...(await printedRows(target, Math.min(requestedLines, TEAM_MAX_CAPTURE_LINES)))];
  while (rows.at(-1) === "") rows.pop();
  const kept = rows.slice(-Math.min(requestedLines, TEAM_MAX_CAPTURE_LINES));
  const truncated = requestedLines > TEAM_MAX_CAPTURE_LINES;
  return { sessionName: target.sessionName, lines: kept.length, requestedLines, text: kept.join("\n"), truncated };
}

async function printedRows(target: CaptureTarget, lines: number): Promise<readonly string[]> {
  const { server, socketPath, sessionName, pane } = target;
  const command = `tmux -S ${socketPath} capture-pane -p -t ${pane} -S -${lines} -E -`;
  try {
    return await onTmux(command, async () => (await server.capture(pane, { lines, whole: true })).lines);
  } catch (error) {
    if (error instanceof AppError && error.code === "NOT_FOUND") throw sessionNotFound(sessionName, error);
    throw error;
  }
}
