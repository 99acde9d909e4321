/**
 * The one error type, and the one table of each code's HTTP status and exit code. Adapters read the table and never choose
 * statuses themselves; bugs are `INTERNAL_ERROR` with a `cause`. Messages say what to do next.
 */
export const ERROR_SURFACES = {
  INVALID_ARGUMENT: { httpStatus: 400, exitCode: 2 },
  INVALID_TARGET: { httpStatus: 400, exitCode: 4 },
  AMBIGUOUS_TARGET: { httpStatus: 400, exitCode: 4 },
  UNAUTHORIZED: { httpStatus: 401, exitCode: 6 },
  FORBIDDEN: { httpStatus: 403, exitCode: 6 },
  NOT_FOUND: { httpStatus: 404, exitCode: 3 },
  METHOD_NOT_ALLOWED: { httpStatus: 405, exitCode: 2 },
  TIMEOUT: { httpStatus: 408, exitCode: 124 },
  ALREADY_EXISTS: { httpStatus: 409, exitCode: 7 },
  REVISION_CONFLICT: { httpStatus: 409, exitCode: 7 },
  INCONSISTENT_STATE: { httpStatus: 409, exitCode: 1 },
  /** The program in the pane cannot take this in its state; `details.state` is that state. */
  WRONG_STATE: { httpStatus: 409, exitCode: 10 },
  BODY_TOO_LARGE: { httpStatus: 413, exitCode: 2 },
  UNSUPPORTED_MEDIA_TYPE: { httpStatus: 415, exitCode: 2 },
  RESOURCE_LIMIT: { httpStatus: 429, exitCode: 8 },
  INTERNAL_ERROR: { httpStatus: 500, exitCode: 1 },
  UNSUPPORTED_PATTERN_ENGINE: { httpStatus: 501, exitCode: 8 },
  UNSUPPORTED_CAPTURE_MODE: { httpStatus: 501, exitCode: 8 },
  TMUX_COMMAND_FAILED: { httpStatus: 502, exitCode: 1 },
  PROTOCOL_ERROR: { httpStatus: 502, exitCode: 69 },
  /** The caller disconnected or cancelled the call; nginx logs this as 499. */
  CANCELLED: { httpStatus: 499, exitCode: 1 },
  /** Only for the connection to tmux. */
  CONNECTION_LOST: { httpStatus: 503, exitCode: 69 },
  /** The daemon is stopping. */
  SHUTTING_DOWN: { httpStatus: 503, exitCode: 69 },
  /** Created only by clients, and by a daemon for that of another host: nothing listens there, or the connection to it broke. */
  DAEMON_UNREACHABLE: { httpStatus: 503, exitCode: 69 },
  DEVICE_OFFLINE: { httpStatus: 503, exitCode: 5 },
  CONFIGURATION_INVALID: { httpStatus: 500, exitCode: 1 },
  TMUX_UNAVAILABLE: { httpStatus: 503, exitCode: 1 },
  COMMAND_TIMEOUT: { httpStatus: 504, exitCode: 9 },
  RPC_TIMEOUT: { httpStatus: 504, exitCode: 9 },
  OWNER_TIMEOUT: { httpStatus: 504, exitCode: 9 },
} as const satisfies Record<string, { httpStatus: number; exitCode: number }>;

export type ErrorCode = keyof typeof ERROR_SURFACES;

interface AppErrorOptions {
  /** Facts that a caller may show: ids, limits, progress. Never a secret; pane text only for callers who may read the pane. */
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** The error of everything that can fail for a caller. `message` is one line for people and says what to do next. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "AppError";
    this.code = code;
    this.details = options.details;
  }
}

/**
 * Whether the call was interrupted, not refused: tmux, the caller or the daemon is gone. How far it got is unknown.
 */
export function isCutShort(error: unknown): boolean {
  return error instanceof AppError && CUT_SHORT.has(error.code);
}

const CUT_SHORT: ReadonlySet<ErrorCode> = new Set(["CONNECTION_LOST", "CANCELLED", "SHUTTING_DOWN"]);

/** The error of every call and stream of a stopping daemon. */
export const shuttingDown = (): AppError =>
  new AppError("SHUTTING_DOWN", "the daemon is stopping; reconnect once it is running again");

/** What whoever threw it says; not everything that is thrown is an Error. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The error itself if it is one of ours, otherwise an `INTERNAL_ERROR` with it as the cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  return new AppError("INTERNAL_ERROR", messageOf(error), { cause: error });
}

export const invalidArgument = (message: string): AppError => new AppError("INVALID_ARGUMENT", message);
