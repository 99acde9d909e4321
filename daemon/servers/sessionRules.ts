/** Validates session names and window sizes, and translates tmux's refusals. */
import { AppError, invalidArgument } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { isRefusal } from "../connection/commandQueue.ts";
import type { TmuxFeatures } from "../connection/tmuxFeatures.ts";
import { HUB_PREFIX } from "./owned/hub.ts";
import type { CreateSession } from "../tmux/inventory.ts";

const MAX_SESSION_NAME_CHARS = 256;
/** Far above any screen, and far below tmux's own limit of 10,000, at which a grid takes gigabytes. */
const MAX_WINDOW_CELLS = 1_000;

/** tmux keeps these names unchanged except for `.` and `:` (session.c `session_check_name`). */
export function requireSessionName(name: string): void {
  if (name === "" || name.length > MAX_SESSION_NAME_CHARS || /\p{C}|^\$/u.test(name) || name.startsWith(HUB_PREFIX)) {
    throw invalidArgument(
      `a session name must have 1 to ${MAX_SESSION_NAME_CHARS} characters, without control characters, and must not begin with $ or ${HUB_PREFIX}`,
    );
  }
}

/** @throws AppError INVALID_ARGUMENT */
export function requireSize(cols = 1, rows = 1): void {
  for (const value of [cols, rows]) {
    if (Number.isInteger(value) && value >= 1 && value <= MAX_WINDOW_CELLS) continue;
    throw invalidArgument(`a size must be 1 to ${MAX_WINDOW_CELLS} columns and rows`);
  }
}

/**
 * Whether to keep the pane after its program has ended.
 * @throws AppError INVALID_ARGUMENT if that was requested and can crash this server (docs/tmuxFacts.md, Versions)
 */
export function isKept({ remainOnExit = false }: Pick<CreateSession, "remainOnExit">, tmux: TmuxFeatures): boolean {
  if (tmux.keepsPanes || remainOnExit === false) return remainOnExit !== false;
  if (remainOnExit === "whereSafe") return false;
  throw invalidArgument(
    "tmux before 3.3 can crash, with every session, when the program of a kept pane ends, so nothing was started; omit " +
      "--keep (remainOnExit), or install tmux 3.3 or newer and restart its server",
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
    return new AppError("RESOURCE_LIMIT", `tmux cannot start another pane (${error.message}); close some first`, {
      cause: error,
    });
  }
  return error;
}
