/**
 * The errors of the Freshell contract: its codes, and the code that each of the daemon's own maps to. The adapter sends no
 * other codes, and the table is complete: a new code of the daemon does not compile without its row.
 */
import { type AppError, ERROR_SURFACES, type ErrorCode } from "../../errors.ts";

/** Codes of commands and operations (seed 002 §14). */
export const OPERATION_ERROR_CODES = [
  "DEVICE_OFFLINE",
  "RPC_TIMEOUT",
  "OWNER_TIMEOUT",
  "REVISION_CONFLICT",
  "NOT_FOUND",
  "AMBIGUOUS_TARGET",
  "INVALID_TARGET",
  "INVALID_ARGUMENT",
  "UNAUTHORIZED",
  "RESOURCE_LIMIT",
  "UNSUPPORTED_PATTERN_ENGINE",
  "UNSUPPORTED_CAPTURE_MODE",
  "TIMEOUT",
  "INCONSISTENT_STATE",
  "INTERNAL_ERROR",
] as const satisfies readonly ErrorCode[];
export type OperationErrorCode = (typeof OPERATION_ERROR_CODES)[number];

/** Further codes of the WebSocket, as in upstream. */
type TransportErrorCode =
  | "NOT_AUTHENTICATED"
  | "INVALID_MESSAGE"
  | "UNKNOWN_MESSAGE"
  | "INVALID_TERMINAL_ID"
  | "INVALID_SESSION_ID"
  | "PTY_SPAWN_FAILED"
  | "RATE_LIMITED"
  | "PROTOCOL_MISMATCH";

export type FreshellErrorCode = OperationErrorCode | TransportErrorCode;

/** Which part of a routed command failed (seed 002 §9.3). */
export type FaultStage = "relay" | "owner";

/** An error in responses and frames. */
export interface FreshellFault<Code extends FreshellErrorCode = FreshellErrorCode> {
  readonly code: Code;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly stage?: FaultStage | undefined;
}

interface Outside {
  readonly code: OperationErrorCode;
  /** `details.reason`, for a refusal by the listener. */
  readonly reason?: string;
  /** Puts the daemon's own code into `details.cause`, and whether a retry can succeed into `details.retry`. */
  readonly retry?: boolean;
}

const OUTSIDE: Readonly<Record<ErrorCode, Outside>> = {
  ...(Object.fromEntries(OPERATION_ERROR_CODES.map((code) => [code, { code }])) as Record<OperationErrorCode, Outside>),
  FORBIDDEN: { code: "UNAUTHORIZED", reason: "forbidden" },
  METHOD_NOT_ALLOWED: { code: "INVALID_ARGUMENT", reason: "method" },
  BODY_TOO_LARGE: { code: "INVALID_ARGUMENT", reason: "body_too_large" },
  UNSUPPORTED_MEDIA_TYPE: { code: "INVALID_ARGUMENT", reason: "content_type" },
  ALREADY_EXISTS: { code: "INVALID_ARGUMENT" },
  WRONG_STATE: { code: "INCONSISTENT_STATE" },
  CONFIGURATION_INVALID: { code: "INTERNAL_ERROR", retry: false },
  TMUX_COMMAND_FAILED: { code: "INTERNAL_ERROR", retry: false },
  PROTOCOL_ERROR: { code: "INTERNAL_ERROR", retry: true },
  CONNECTION_LOST: { code: "INTERNAL_ERROR", retry: true },
  CANCELLED: { code: "INTERNAL_ERROR", retry: true },
  SHUTTING_DOWN: { code: "INTERNAL_ERROR", retry: true },
  DAEMON_UNREACHABLE: { code: "INTERNAL_ERROR", retry: true },
  TMUX_UNAVAILABLE: { code: "INTERNAL_ERROR", retry: true },
  COMMAND_TIMEOUT: { code: "INTERNAL_ERROR", retry: true },
};

/** Replaces an internal error's own message, which could contain anything. */
const INTERNAL_MESSAGE = "Internal server error.";
/** For the listener, which then closes the connection; not sent to clients. */
const INNER_DETAILS = new Set(["close"]);

/** The client's view of a daemon error. */
export function faultOf({ code, message, details }: AppError): FreshellFault<OperationErrorCode> {
  const outside = OUTSIDE[code];
  const shown = Object.entries(details ?? {}).filter(([name]) => !INNER_DETAILS.has(name));
  const isIndeterminate = details?.["delivery"] === "indeterminate";
  const all = Object.fromEntries([
    ...shown,
    ...(outside.reason === undefined ? [] : [["reason", details?.["reason"] ?? outside.reason]]),
    // If input with unknown delivery were retried, it could arrive twice.
    ...(outside.retry === undefined
      ? []
      : [
          ["cause", code],
          ["retry", outside.retry && !isIndeterminate],
        ]),
  ]) as Readonly<Record<string, unknown>>;
  return {
    code: outside.code,
    message: code === "INTERNAL_ERROR" || code === "CONFIGURATION_INVALID" ? INTERNAL_MESSAGE : message,
    ...(Object.keys(all).length === 0 ? {} : { details: all }),
  };
}

/** The HTTP status of an error, from its code; a refusal by the listener keeps its own. */
export function statusOf({ code }: AppError): (typeof ERROR_SURFACES)[ErrorCode]["httpStatus"] {
  const outside = OUTSIDE[code];
  return ERROR_SURFACES[outside.reason === undefined ? outside.code : code].httpStatus;
}
