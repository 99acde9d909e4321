/** What went wrong on the way to a pane, as the contract reports it: a type, a status, and a message for a person. */
import { clip } from "../../../protocol/text/clip.ts";
import { textOf } from "../../../protocol/text/jsonObject.ts";
import { type AppError, type ErrorCode, toAppError } from "../../../protocol/errors.ts";

export interface Failure {
  readonly status: 400 | 404 | 409 | 429 | 500 | 502 | 503;
  readonly errorType: string;
  readonly message: string;
  /** Something may have been typed: the same request is not carried out a second time. */
  readonly isUncertain: boolean;
  /** Why the state is wrong, for a client with a message of its own; `details.reason` of the delivery. */
  readonly reason?: string | undefined;
  /** What stands in the prompt box: foreign text, bounded by the delivery. */
  readonly box?: string | undefined;
  /** Text or keys have reached the pane, and were not taken as an answer. */
  readonly wasWritten?: boolean | undefined;
}

export const failure = (
  status: Failure["status"],
  errorType: string,
  message: string,
  isUncertain = false,
): Failure => ({
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

/** Whoever reads from the pane is not who the answer was for; as `details.reason` of the delivery. */
export const PROGRAM_CHANGED = "program_changed";

export const PROGRAM_ENDED: Failure = {
  ...wrongState("The agent's program has ended, so nothing was typed. Start the agent again."),
  reason: PROGRAM_CHANGED,
};

export const ASKED_BY_ANOTHER: Failure = {
  ...wrongState(
    "Another program asks in the agent's pane than before. Look at the pane, and answer this question there.",
  ),
  reason: PROGRAM_CHANGED,
};

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
  const made = BY_CODE[error.code]?.(error, wasWritten) ?? failure(502, "unknown", BROKEN, true);
  if (!DELIVERYS_OWN.has(error.code)) return made;
  const reason = reasonOf(error);
  const message = REASON_WORDS[reason ?? ""]?.(error) ?? made.message;
  return { ...made, message, reason, box: textOf(error.details?.["box"]), wasWritten };
}

/** Errors about what the program does, of which a client can make something. */
const DELIVERYS_OWN: ReadonlySet<ErrorCode> = new Set(["WRONG_STATE", "INCONSISTENT_STATE", "TIMEOUT"]);

const NOT_ENTERED = "not_entered";

/** What was typed but not entered has a reason in any case. */
function reasonOf({ details }: AppError): string | undefined {
  const isLeft = details?.["textWritten"] === true && details["enterPresses"] === 0;
  return textOf(details?.["reason"]) ?? (isLeft ? NOT_ENTERED : undefined);
}

/** The text stands in the prompt box, and Enter was certainly not pressed. */
export const isLeftInBox = ({ reason }: Failure): boolean => LEFT_IN_BOX.has(reason ?? "");

const LEFT_IN_BOX: ReadonlySet<string> = new Set(["box_changed", "question_opened", NOT_ENTERED]);

const IN_BOX = "Your text stands in the agent's prompt box, unsent: look at its pane.";

/** For what the delivery advises in the native API's words. */
const REASON_WORDS: Readonly<Record<string, (error: AppError) => string>> = {
  box_not_empty: ({ details }) =>
    `The agent's prompt box already holds text${quoted(details?.["box"])}, and both would become one prompt. ` +
    "Send or empty it in the agent's pane, then answer again.",
  box_changed: () => `Somebody typed into the agent's prompt box meanwhile, so Enter was not pressed. ${IN_BOX}`,
  question_opened: () => `The agent asked something else before Enter was pressed. ${IN_BOX}`,
  [NOT_ENTERED]: () => `The agent's screen kept changing, so Enter was not pressed. ${IN_BOX}`,
  screen_unknown: () =>
    "Nothing that is known of the agent is on its screen, so the text could answer something else. Look at its pane, and answer there.",
  question_unreadable: () => "The agent's question could not be read from its screen. Answer it in its pane.",
};

/** One line of it; a box may hold many. */
function quoted(box: unknown): string {
  const line = clip((textOf(box) ?? "").replaceAll(/\s+/gu, " ").trim(), MAX_QUOTED_CHARS);
  return line === "" ? "" : ` (“${line}”)`;
}

const MAX_QUOTED_CHARS = 80;

const ONE_LINE =
  "The agent's program takes no pasted text, so each line end would send a part of it. Send one line without tabs.";
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
  WRONG_STATE: failWith(409, "wrong_state"),
  INCONSISTENT_STATE: failWith(409, "wrong_state"),
  NOT_FOUND: failWith(503, "pane_not_found", GONE),
  INVALID_ARGUMENT: (error) =>
    failure(
      400,
      error.details?.["field"] === "option_index" ? "invalid_option_index" : "invalid_text",
      error.details?.["bracketedPaste"] === undefined ? sentence(error) : ONE_LINE,
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
