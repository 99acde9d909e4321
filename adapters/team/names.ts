/**
 * Names of sessions and what a person types to reach one. Up to 3.6 tmux turns `.` in a session's name into `_`, and a
 * worker has the same name on every version: here it is turned before tmux sees it, in prefixes too. A number is one more
 * than the highest there is, dead sessions among them.
 */
import type { SessionInfo } from "../../daemon/tmux/inventory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import { TEAM_DEFAULT_CAPTURE_LINES } from "../../protocol/api/team.ts";

/** As every tmux reports a session of this name. */
export const asTmuxNames = (name: string): string => name.replaceAll(/[.:]/g, "_").replaceAll("\\", "\\\\");

/** By the name it was asked for with, or the one it got. */
export const findNamed = (server: TmuxServer, name: string): SessionInfo | undefined =>
  server.findSession(name) ?? server.findSession(asTmuxNames(name));

/** The next `PREFIX-N`. @param taken names tmux reports, and those promised to starts under way. */
export function nextSessionName(prefix: string, taken: Iterable<string>): string {
  const stem = `${asTmuxNames(prefix)}-`;
  let highest = 0;
  for (const name of taken) {
    const digits = name.startsWith(stem) ? name.slice(stem.length) : "";
    if (/^[1-9]\d{0,8}$/.test(digits)) highest = Math.max(highest, Number(digits));
  }
  return `${stem}${highest + 1}`;
}

/** `sessionPrefix` of a list: literal, never a pattern. */
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

/** One word for a POSIX shell. */
const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

export const shellLine = (argv: readonly string[]): string => argv.map(shellWord).join(" ");

export const captureHint = (sessionName: string): string =>
  `team_tmux_capture ${JSON.stringify({ sessionName, lines: TEAM_DEFAULT_CAPTURE_LINES })}`;
