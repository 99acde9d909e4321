/** A worker's screen and history as text: what tmux itself would print, cut only as the contract says. */
import { TEAM_MAX_CAPTURE_LINES, type TeamCapture } from "../../protocol/api/team.ts";
import { AppError } from "../../protocol/errors.ts";
import { onTmux, sessionNotFound } from "./teamErrors.ts";
import { LAST_WORDS_CHARS, LAST_WORDS_ROWS } from "./teamLimits.ts";
import { AGENT_ROWS } from "../agents/start/agentStarts.ts";
import type { TeamPlace } from "./teamServers.ts";

export type CaptureTarget = Omit<TeamPlace, "session" | "record">;

/** @throws AppError tmux_error, session_not_found */
export async function captureText(target: CaptureTarget, requestedLines: number): Promise<TeamCapture> {
  const rows = await printedRows(target, Math.min(requestedLines, TEAM_MAX_CAPTURE_LINES));
  // As tmux prints it: the requested history, then the whole screen.
  return bounded(target, rows, requestedLines, TEAM_MAX_CAPTURE_LINES);
}

/** The last non-empty lines, for the response to a start. If the worker has ended, its own last lines. */
export async function initialCapture(target: CaptureTarget, requestedLines: number): Promise<TeamCapture> {
  const most = Math.min(requestedLines, TEAM_MAX_CAPTURE_LINES);
  return bounded(target, await ownRows(target, most), requestedLines, most);
}

/** The last output of a worker that has ended; empty if there was none. Foreign text. */
export async function lastWords(target: CaptureTarget): Promise<string> {
  const rows = (await ownRows(target, AGENT_ROWS)).filter((row) => row.trim() !== "" && !meansDead(row));
  const words = rows.slice(-LAST_WORDS_ROWS).map((row) => row.trim());
  return Array.from(words.join("\n")).slice(-LAST_WORDS_CHARS).join("");
}

function bounded(
  { sessionName }: CaptureTarget,
  rows: readonly string[],
  requestedLines: number,
  most: number,
): TeamCapture {
  const truncated = requestedLines > TEAM_MAX_CAPTURE_LINES || rows.length > TEAM_MAX_CAPTURE_LINES;
  const kept = rows.slice(-most);
  const marker = truncated ? [`[truncated to ${TEAM_MAX_CAPTURE_LINES} lines]`] : [];
  return { sessionName, lines: kept.length, requestedLines, text: [...kept, ...marker].join("\n"), truncated };
}

/** The rows without trailing blank ones, and without tmux's note below them that the program has ended. */
async function ownRows(target: CaptureTarget, lines: number): Promise<readonly string[]> {
  const rows = written(await printedRows(target, lines));
  const isDead = target.server.findPane(target.pane)?.exit !== undefined;
  if (!isDead || !meansDead(rows.at(-1) ?? "")) return rows;
  const own = written(rows.slice(0, -1));
  // The note stays if the program itself printed nothing.
  return own.length === 0 ? rows.slice(-1) : own;
}

const written = (rows: readonly string[]): readonly string[] =>
  rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);

/** The note that tmux, in any version, writes into a dead pane. */
const meansDead = (row: string): boolean => /^Pane is dead(?: \(|$)/.test(row);

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
