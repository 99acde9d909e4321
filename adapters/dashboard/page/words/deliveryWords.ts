/** The outcome of an answer, in the page's words. The server's message follows where it says more. */

const DELIVERED: ReadonlyMap<string, string> = new Map([
  ["submitted", "submitted"],
  ["queued", "queued: the agent is busy and takes it next"],
  ["echoed_unconfirmed", "typed and entered, but the agent has not shown that it took it: look at the pane"],
  ["not_echoed", "not seen on the screen, not entered"],
  ["not_entered", "typed, but not entered: your text stands in the agent's box"],
  ["interrupted", "interrupted"],
  ["indeterminate", "may have been sent: look at the pane"],
]);

/** Deliveries that the agent may not have taken, or has not. */
const UNCONFIRMED: ReadonlySet<string> = new Set(["echoed_unconfirmed", "not_entered", "indeterminate"]);

export const isUnconfirmed = (delivery: string): boolean => UNCONFIRMED.has(delivery);

/** Errors after which the text was certainly not entered, so that a retry cannot answer twice. */
const NOTHING_SENT =
  /^(?:wrong_state|screen_unknown|question_unreadable|no_pane_id|agent_not_found|pane_not_found|tmux_not_installed|tmux_not_running|invalid_.*|missing_.*)$/;

function failureHead(errorType: string): string {
  if (errorType === "not_echoed") return "not seen on the screen, not entered";
  if (errorType === "program_changed") return "not delivered, another program reads from the pane now";
  if (errorType === "box_not_empty") return "nothing was sent, other text stands in the agent's box";
  return NOTHING_SENT.test(errorType)
    ? "nothing was sent"
    : "may have been sent: look at the pane before you try again";
}

const IN_BOX = "your text stands in the agent's box, unsent";

/** The same where something had been typed before. */
const TYPED: ReadonlyMap<string, string> = new Map([
  ["box_changed", IN_BOX],
  ["question_opened", IN_BOX],
  ["not_entered", IN_BOX],
  ["program_changed", "typed but not entered, another program reads from the pane now"],
]);

const latencyText = (latencyMs: number): string =>
  latencyMs < 10_000 ? `${Math.round(latencyMs)} ms` : `${Math.round(latencyMs / 1_000)} s`;

/** `submitted · 84 ms`, and what the screen says since. */
export function deliveredText(delivery: string, latencyMs: number | undefined, screenNote?: string | null): string {
  const words = DELIVERED.get(delivery) ?? delivery.replaceAll("_", " ");
  const timed = latencyMs === undefined ? words : `${words} · ${latencyText(latencyMs)}`;
  return screenNote === undefined || screenNote === null ? timed : `${timed} — its screen says: ${screenNote}`;
}

interface AnswerFailure {
  readonly errorType: string;
  readonly message: string;
  /** Text or keys have reached the pane. */
  readonly textWritten: boolean;
}

export function failureText({ errorType, message, textWritten }: AnswerFailure): string {
  const head = textWritten ? (TYPED.get(errorType) ?? "begun but not done: look at the pane") : failureHead(errorType);
  return message === "" ? head : `${head} — ${message}`;
}
