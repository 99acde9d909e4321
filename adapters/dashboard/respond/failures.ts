/**
 * The responses of `POST /api/respond/:id`, as they go out and as they are kept. What went wrong on the way to a pane has the
 * contract's type and status, and a message for a person.
 */
import type { Context } from "hono";
import { clip } from "../../../protocol/text/clip.ts";
import { textOf } from "../../../protocol/text/jsonObject.ts";
import { type AppError, type ErrorCode, toAppError } from "../../../protocol/errors.ts";
import type { PaneId } from "../../../protocol/ids.ts";
import type { GuardEnv } from "../../kit/guard/requestGuard.ts";
import type { Agent } from "../agents/agent.ts";
import { isSameServer } from "../agents/agentBook.ts";
import type { DashboardParts } from "../dashboardParts.ts";

export interface RespondResponse {
  readonly status: 200 | 400 | 404 | 409 | 429 | 500 | 502 | 503;
  /** Without its members that are undefined. */
  readonly body: Readonly<Record<string, string | number | boolean | undefined>>;
  /** The same request again gets this one, and types nothing; of a failure: something may have been typed. */
  readonly isKept: boolean;
}

export interface Failure extends RespondResponse {
  readonly body: {
    readonly status: "error";
    readonly error_type: string;
    readonly message: string;
    /** Why the state is wrong, for a client with a message of its own; `details.reason` of the delivery. */
    readonly reason?: string | undefined;
    /** What stands in the prompt box: foreign text, bounded by the delivery. */
    readonly box?: string | undefined;
    /** Text or keys have reached the pane, and were not taken as an answer. */
    readonly text_written?: true | undefined;
    /** Absent: nothing was tried. */
    readonly latency_ms?: number | undefined;
  };
}

export const failure = (status: Failure["status"], error_type: string, message: string, isKept = false): Failure => ({
  status,
  body: { status: "error", error_type, message },
  isKept,
});

export const respondWith = (c: Context<GuardEnv>, { status, body }: RespondResponse): Response => c.json(body, status);

export const agentNotFound = (agentId: number): Failure =>
  failure(404, "agent_not_found", `Agent with ID ${agentId} not found.`);

export const noPane = (what: string): Failure =>
  failure(400, "no_pane_id", `Agent has no tmux pane ID — cannot ${what}.`);

/** The agent's pane if it can be used now, or the reason why it cannot. @param pane the one that the agent reported */
export async function usablePane(
  { server, panes }: DashboardParts,
  agent: Agent,
  pane: PaneId,
): Promise<PaneId | Failure> {
  const live = panes.places.livePane(agent);
  if (live !== undefined) return live;
  await panes.presence.settled();
  const back = panes.places.livePane(agent);
  if (back !== undefined) return back;
  if (!isSameServer(agent.record.paneServer, server.status().identity)) return paneOfOtherServer(pane);
  // Asked only for its refusal: whether tmux is missing, not running, busy, or without this pane.
  const error = await server.describePane(pane).then(() => undefined, toAppError);
  return error === undefined || error.code === "NOT_FOUND" ? paneGone(pane) : connectionFailure(error);
}

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

const paneOfOtherServer = (pane: string): Failure =>
  failure(
    503,
    "pane_not_found",
    `tmux was restarted since the agent told of its pane ${pane}, which is gone. Start the agent again.`,
  );

const GONE = "The agent's pane is gone: its window was closed or its program has ended.";

export const wrongState = (message: string): Failure => failure(409, "wrong_state", message);

/** Whoever reads from the pane is not who the answer was for; as `details.reason` of the delivery. */
export const PROGRAM_CHANGED = "program_changed";

const programChanged = (message: string): Failure => {
  const { body, ...rest } = wrongState(message);
  return { ...rest, body: { ...body, reason: PROGRAM_CHANGED } };
};

export const PROGRAM_ENDED = programChanged(
  "The agent's program has ended, so nothing was typed. Start the agent again.",
);

export const ASKED_BY_ANOTHER = programChanged(
  "Another program asks in the agent's pane than before. Look at the pane, and answer this question there.",
);

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
  const message = REASON_WORDS[reason ?? ""]?.(error) ?? made.body.message;
  const box = textOf(error.details?.["box"]);
  return { ...made, body: { ...made.body, message, reason, box, text_written: wasWritten || undefined } };
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
export const isLeftInBox = ({ body }: Failure): boolean => LEFT_IN_BOX.has(body.reason ?? "");

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
function connectionFailure(error: AppError): Failure {
  const reason = error.details?.["reason"];
  if (reason === "tmux_not_installed" || error.code === "TMUX_UNAVAILABLE") return NOT_INSTALLED;
  return reason === "tmux_not_running" ? NOT_RUNNING : NOT_CONNECTED;
}

const sentence = ({ message }: AppError): string => {
  const text = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};
