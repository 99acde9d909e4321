/**
 * The team contract's errors under their names there, each based on one of our codes, which gives it its status. A failure
 * in tmux names the command and quotes tmux.
 */
import { AppError, type ErrorCode, toAppError } from "../../protocol/errors.ts";
import { isOfOtherRequest } from "../../daemon/ops/once.ts";
import type { TeamError } from "../../protocol/api/team.ts";
import type { VisibleError } from "../kit/guard/httpErrors.ts";

const TEAM_ERRORS = {
  invalid_argument: "INVALID_ARGUMENT",
  invalid_identifier: "INVALID_ARGUMENT",
  invalid_cwd: "INVALID_ARGUMENT",
  session_not_found: "NOT_FOUND",
  session_exists: "ALREADY_EXISTS",
  thread_not_found: "NOT_FOUND",
  teamd_unavailable: "DEVICE_OFFLINE",
  thread_post_failed: "PROTOCOL_ERROR",
  worker_not_found: "DEVICE_OFFLINE",
  worker_not_running: "WRONG_STATE",
  tmux_not_installed: "TMUX_UNAVAILABLE",
  tmux_error: "TMUX_COMMAND_FAILED",
} as const satisfies Record<string, ErrorCode>;

type TeamErrorName = keyof typeof TEAM_ERRORS;

interface TeamErrorOptions {
  /** The tmux command, and tmux's own error; empty if tmux was not called or printed nothing. */
  readonly command?: string | undefined;
  readonly stderr?: string | undefined;
  readonly cause?: unknown;
}

export function teamError(name: TeamErrorName, message: string, options: TeamErrorOptions = {}): AppError {
  const { command, stderr, cause } = options;
  return new AppError(TEAM_ERRORS[name], message, { details: { team: name, command, stderr }, cause });
}

export const sessionNotFound = (name: string, cause?: unknown): AppError =>
  teamError("session_not_found", `session ${name} does not exist; list the team's sessions to see which do`, { cause });

/** The contract's name of an error, if it has one. */
function teamErrorName(error: unknown): TeamErrorName | undefined {
  const name = error instanceof AppError ? error.details?.["team"] : undefined;
  return typeof name === "string" && Object.hasOwn(TEAM_ERRORS, name) ? (name as TeamErrorName) : undefined;
}

const OF_TMUX: ReadonlySet<ErrorCode> = new Set([
  "TMUX_COMMAND_FAILED",
  "TMUX_UNAVAILABLE",
  "CONFIGURATION_INVALID",
  "INCONSISTENT_STATE",
  "CONNECTION_LOST",
  "SHUTTING_DOWN",
  "PROTOCOL_ERROR",
]);

/** Runs the equivalent of `command`, and gives a failure the contract's name. */
export async function onTmux<T>(command: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (thrown) {
    const error = toAppError(thrown);
    if (teamErrorName(error) !== undefined) throw error;
    if (error.code === "TMUX_UNAVAILABLE" && isMissing(error)) {
      throw teamError("tmux_not_installed", error.message, { cause: error });
    }
    if (!OF_TMUX.has(error.code)) throw error;
    throw teamError("tmux_error", `${command}: ${error.message}`, {
      command,
      stderr: tmuxMessage(error),
      cause: error,
    });
  }
}

/** A key that came with another request before is an invalid argument. */
export async function withKey<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!isOfOtherRequest(error)) throw error;
    throw teamError("invalid_argument", `idempotencyKey: ${(error as Error).message}`, { cause: error });
  }
}

/** tmux is missing or too old; a tmux that exists and fails is a different error. */
const isMissing = ({ details }: AppError): boolean =>
  details?.["reason"] === "tmux_not_installed" || details?.["reason"] === "tmux_too_old";

/** tmux's own message, from wherever it is in the chain of causes. */
function tmuxMessage(error: unknown): string {
  if (!(error instanceof AppError)) return "";
  const tmux = error.details?.["tmux"];
  return typeof tmux === "string" ? tmux : tmuxMessage(error.cause);
}

/** The contract's code for an error; our codes that it does not name are converted to its spelling. */
export const teamErrorWord = (error: AppError): string => teamErrorName(error) ?? error.code.toLowerCase();

/** The body of every error under `/team/`. */
export function teamErrorBody({ status, message, error }: VisibleError): TeamError {
  const { command, stderr } = status === 500 ? {} : (error.details ?? {});
  return {
    error: {
      code: teamErrorWord(error),
      message,
      ...(typeof command === "string" ? { command } : {}),
      ...(typeof stderr === "string" ? { stderr } : {}),
    },
  };
}
