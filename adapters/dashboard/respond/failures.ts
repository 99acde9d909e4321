/** What went wrong on the way to a pane, as the contract reports it: a type, a status, and a message for a person. */
import { type AppError, type ErrorCode, toAppError } from "../../../protocol/errors.ts";

export interface Failure {
  readonly status: 400 | 409 | 429 | 500 | 502 | 503;
  readonly errorType: string;
  readonly message: string;
  /** Something may have been typed: the same request is not carried out a second time. */
  readonly isUncertain: boolean;
  /** Why the state is wrong, for a client with a message of its own. */
  readonly reason?: string | undefined;
}

const failure = (status: Failure["status"], errorType: string, message: string, isUncertain = false): Failure => ({
  status,
  errorType,
  message,
  isUncertain,
});

const NOT_INSTALLED = failure(
  503,
  "tmux_not_installed",
  "tmux is not installed, or not on the daemon's PATH. Install tmux, then start tmuxwire again.",
);

const NOT_RUNNING = failure(
  503,
  "tmux_not_running",
  "No tmux server is running, so the agent's session is gone. Start tmux and the agent again; it is noticed by itself.",
);

const NOT_CONNECTED = failure(503, "tmux_not_running", "tmux does not answer at the moment. Try again shortly.");

export const paneGone = (pane: string): Failure =>
  failure(503, "pane_not_found", `The agent's pane ${pane} is gone: its window was closed or its program has ended.`);

export const paneOfOtherServer = (pane: string): Failure =>
  failure(
    503,
    "pane_not_found",
    `tmux was restarted since the agent told of its pane ${pane}, which is gone. Start the agent again.`,
  );

const GONE = "The agent's pane is gone: its window was closed or its program has ended.";

export const wrongState = (message: string): Failure => failure(409, "wrong_state", message);

export const NOT_ECHOED = failure(
  502,
  "not_echoed",
  "The text did not appear on the agent's screen, so Enter was not pressed. Look at its pane before you try again.",
  true,
);

export const INDETERMINATE = failure(
  502,
  "unknown",
  "The connection to tmux was lost while the answer was on its way; it may have arrived. Look at the agent's pane.",
  true,
);

export const INTERRUPTED = failure(
  502,
  "unknown",
  "tmuxwire was restarted while this answer was on its way; it may have arrived. Look at the agent's pane.",
  true,
);

/** What the delivery throws before it writes can be tried again; `details.textWritten` says that it had written. */
export function failureOf(thrown: unknown): Failure {
  const error = toAppError(thrown);
  const wasWritten = error.details?.["textWritten"] === true;
  return BY_CODE[error.code]?.(error, wasWritten) ?? failure(502, "unknown", BROKEN, true);
}

/** The `details.reason` of the daemon: not the answer's addressee reads from the pane. */
export const PROGRAM_CHANGED = "program_changed";

const BROKEN = "The answer could not be sent; the daemon's log says why.";

type MakeFailure = (error: AppError, wasWritten: boolean) => Failure;

const failWith =
  (status: Failure["status"], errorType: string, message?: string, isAlwaysUncertain = false): MakeFailure =>
  (error, wasWritten) =>
    failure(status, errorType, message ?? sentence(error), isAlwaysUncertain || wasWritten);

const lost: MakeFailure = (error, wasWritten) => (wasWritten ? INDETERMINATE : connectionFailure(error));
const late = failWith(502, "timeout", "tmux or the agent did not react in time. Look at its pane.", true);
const refused = failWith(502, "send_failed", "tmux refused the input. Look at the agent's pane.", true);

const BY_CODE: Readonly<Partial<Record<ErrorCode, MakeFailure>>> = {
  WRONG_STATE: (error, wasWritten) => {
    const made = failWith(409, "wrong_state")(error, wasWritten);
    return error.details?.["reason"] === PROGRAM_CHANGED ? { ...made, reason: PROGRAM_CHANGED } : made;
  },
  INCONSISTENT_STATE: failWith(409, "wrong_state"),
  NOT_FOUND: failWith(503, "pane_not_found", GONE),
  INVALID_ARGUMENT: (error) =>
    failure(
      400,
      error.details?.["field"] === "option_index" ? "invalid_option_index" : "invalid_text",
      sentence(error),
    ),
  RESOURCE_LIMIT: failWith(502, "send_failed"),
  TMUX_UNAVAILABLE: lost,
  CONNECTION_LOST: lost,
  CANCELLED: lost,
  SHUTTING_DOWN: lost,
  TIMEOUT: late,
  COMMAND_TIMEOUT: late,
  TMUX_COMMAND_FAILED: refused,
  PROTOCOL_ERROR: refused,
};

/** Which of the reasons for having no tmux it is. */
export function connectionFailure(error: AppError): Failure {
  const reason = error.details?.["reason"];
  if (reason === "tmux_not_installed" || error.code === "TMUX_UNAVAILABLE") return NOT_INSTALLED;
  return reason === "tmux_not_running" ? NOT_RUNNING : NOT_CONNECTED;
}

const sentence = ({ message }: AppError): string => {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
