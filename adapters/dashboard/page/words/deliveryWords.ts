/** The outcome of an answer, in the page's words. The server's message follows where it says more. */

const DELIVERED: ReadonlyMap<string, string> = new Map([
  ["submitted", "submitted"],
  ["queued", "queued: the agent is busy and takes it next"],
  ["echoed_unconfirmed", "typed and entered, but the agent has not shown that it took it: look at the pane"],
  ["not_echoed", "not seen on the screen, not entered"],
  ["indeterminate", "may have been sent: look at the pane"],
]);

/** Deliveries that the agent may not have taken. */
const UNCONFIRMED: ReadonlySet<string> = new Set(["echoed_unconfirmed", "indeterminate"]);

export const isUnconfirmed = (delivery: string): boolean => UNCONFIRMED.has(delivery);

/** Errors after which the text was certainly not entered, so that a retry cannot answer twice. */
const NOTHING_SENT =
  /^(?:wrong_state|no_pane_id|agent_not_found|pane_not_found|tmux_not_installed|tmux_not_running|invalid_.*|missing_.*)$/;

function failureHead(errorType: string): string {
  if (errorType === "not_echoed") return "not echoed, nothing was sent";
  if (errorType === "program_changed") return "not delivered, another program reads from the pane now";
  return NOTHING_SENT.test(errorType)
    ? "nothing was sent"
    : "may have been sent: look at the pane before you try again";
}

const latencyText = (latencyMs: number): string =>
  latencyMs < 10_000 ? `${Math.round(latencyMs)} ms` : `${Math.round(latencyMs / 1_000)} s`;

/** `submitted · 84 ms`. */
export function deliveredText(delivery: string, latencyMs: number | undefined): string {
  const words = DELIVERED.get(delivery) ?? delivery.replaceAll("_", " ");
  return latencyMs === undefined ? words : `${words} · ${latencyText(latencyMs)}`;
}

export function failureText(errorType: string, message: string): string {
  const head = failureHead(errorType);
  return message === "" ? head : `${head} — ${message}`;
}
