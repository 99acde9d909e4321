/**
 * Names of sessions, the commands that a person types to reach one, and the text of posts to threads, exactly as the contract
 * has it (docs/contracts/team.md §2). tmux up to 3.6 turns `.` in a session's name into
 * `_`; we do so before tmux sees the name, and in prefixes too, so that a worker has the same name on every version. A new
 * number is one more than the highest in use, including dead sessions.
 */
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { TEAM_DEFAULT_CAPTURE_LINES, type TeamCapture } from "../../protocol/api/team.ts";
import { shellWord } from "../../protocol/text/shellWord.ts";
import { POSTED_PROMPT_CHARS } from "./teamLimits.ts";

/** The name as every tmux version reports it. */
export const asTmuxNames = (name: string): string => name.replaceAll(/[.:]/g, "_").replaceAll("\\", "\\\\");

/** Finds a session by the requested name, or by the name that tmux gave it. */
export const findNamed = (server: TmuxServer, name: string): SessionInfo | undefined =>
  server.findSession(name) ?? server.findSession(asTmuxNames(name));

/** The next `PREFIX-N`. @param taken names that tmux reports, and those reserved by starts in progress. */
export function nextSessionName(prefix: string, taken: Iterable<string>): string {
  const stem = `${asTmuxNames(prefix)}-`;
  let highest = 0;
  for (const name of taken) {
    const digits = name.startsWith(stem) ? name.slice(stem.length) : "";
    if (/^[1-9]\d{0,8}$/.test(digits)) highest = Math.max(highest, Number(digits));
  }
  return `${stem}${highest + 1}`;
}

/** Compares with `sessionPrefix` of a list, which is literal, never a pattern. */
export const hasPrefix = (name: string, prefix: string | undefined): boolean =>
  prefix === undefined || name.startsWith(asTmuxNames(prefix));

export const attachArgv = (socketPath: string, sessionName: string): readonly string[] => [
  "tmux",
  "-S",
  socketPath,
  "attach",
  "-t",
  sessionName,
];

/** For a POSIX shell. */
export const shellLine = (argv: readonly string[]): string =>
  argv.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : shellWord(word))).join(" ");

export const captureHint = (sessionName: string): string =>
  `team_tmux_capture ${JSON.stringify({ sessionName, lines: TEAM_DEFAULT_CAPTURE_LINES })}`;

/** Counts code points, so that no surrogate pair is cut in two. */
const firstCharacters = (text: string, count: number): string =>
  Array.from(text.slice(0, 2 * count))
    .slice(0, count)
    .join("");

interface StartPost {
  readonly sessionName: string;
  readonly teamId: string;
  readonly socketPath: string;
  readonly taskPrompt: string;
  /** Present if the worker has ended; its exit status, if known. */
  readonly ended?: { readonly exitStatus: number | null } | undefined;
}

/** The post of a worker that has already ended does not offer to attach. */
export function startPost({ sessionName, teamId, socketPath, taskPrompt, ended }: StartPost): string {
  const named = `session=${sessionName} team=${teamId}`;
  const announced =
    ended === undefined
      ? [`[team_tmux_start] ${named}`, `attach: ${shellLine(attachArgv(socketPath, sessionName))}`]
      : [`[team_tmux_ended] ${named} exitStatus=${ended.exitStatus ?? "unknown"}`];
  return [
    ...announced,
    `capture: ${captureHint(sessionName)}`,
    `task: ${firstCharacters(taskPrompt, POSTED_PROMPT_CHARS)}`,
  ].join("\n");
}

export const capturePost = ({ sessionName, lines, truncated, text }: TeamCapture): string =>
  `[team_tmux_capture] session=${sessionName} lines=${lines}${truncated ? " truncated" : ""}\n${text}`;
