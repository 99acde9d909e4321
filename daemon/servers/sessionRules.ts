/** What a session may be called, how large a window may be, and what tmux's refusals mean for whoever asked. */
import { AppError } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { isRefusal } from "../connection/commandQueue.ts";
import type { TmuxFeatures } from "../connection/tmuxFeatures.ts";
import { HUB_PREFIX } from "./owned/hub.ts";
import type { CreateSession } from "../tmux/inventory.ts";

const MAX_SESSION_NAME_CHARS = 256;
/** Far beyond any screen, far below tmux's own 10,000, at which a grid costs gigabytes. */
const MAX_WINDOW_CELLS = 1_000;

/** Names tmux takes as they are, but for `.` and `:` (session.c `session_check_name`). */
export function requireSessionName(name: string): void {
  if (name === "" || name.length > MAX_SESSION_NAME_CHARS || /\p{C}|^\$/u.test(name) || name.startsWith(HUB_PREFIX)) {
    throw new AppError(
      "INVALID_ARGUMENT",
      `a session name has 1 to ${MAX_SESSION_NAME_CHARS} characters, no control character, and does not begin with $ or ${HUB_PREFIX}`,
    );
  }
}

/** @throws AppError INVALID_ARGUMENT */
export function requireSize(cols = 1, rows = 1): void {
  for (const value of [cols, rows]) {
    if (Number.isInteger(value) && value >= 1 && value <= MAX_WINDOW_CELLS) continue;
    throw new AppError("INVALID_ARGUMENT", `a size is 1 to ${MAX_WINDOW_CELLS} columns and rows`);
  }
}

/**
 * Whether the pane is to be kept when its program has ended.
 * @throws AppError INVALID_ARGUMENT where that can end the server (docs/tmuxFacts.md, Versions) and was asked for
 */
export function isKept({ remainOnExit = false }: Pick<CreateSession, "remainOnExit">, tmux: TmuxFeatures): boolean {
  if (tmux.keepsPanes || remainOnExit === false) return remainOnExit !== false;
  if (remainOnExit === "whereSafe") return false;
  throw new AppError(
    "INVALID_ARGUMENT",
    "tmux before 3.3 can crash, with every session, when the program of a kept pane ends, so nothing was started; leave " +
      "out --keep (remainOnExit), or install tmux 3.3 or newer and restart its server",
  );
}

export const duplicate = (name: string, cause?: unknown): AppError =>
  new AppError("ALREADY_EXISTS", `duplicate session: ${name}`, { cause });

export const sessionGone = (session: SessionId): AppError =>
  new AppError("NOT_FOUND", `session ${session} does not exist; list the sessions again`);

export function creationError(name: string, error: unknown): unknown {
  if (!isRefusal(error)) return error;
  if (/duplicate session/.test(error.message)) return duplicate(name, error);
  if (/fork failed|no more|too many|resource/i.test(error.message)) {
    return new AppError("RESOURCE_LIMIT", `tmux cannot start another pane (${error.message}); end some first`, {
      cause: error,
    });
  }
  return error;
}
