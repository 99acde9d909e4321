/** The text of posts to threads, exactly as the contract has it (docs/contracts/team.md §2). */
import type { TeamCapture } from "../../protocol/api/team.ts";
import { POSTED_PROMPT_CHARS } from "./teamLimits.ts";
import { attachArgv, captureHint, shellLine } from "./names.ts";

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
