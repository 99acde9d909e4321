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

/** Errors after which the text was certainly not entered. */
const NOTHING_SENT: ReadonlyMap<string, string> = new Map([
  ["not_echoed", "not echoed, nothing was sent"],
  ["wrong_state", "nothing was sent"],
  ["program_changed", "not delivered, another program reads from the pane now"],
  ["no_pane_id", "nothing was sent"],
  ["agent_not_found", "nothing was sent"],
  ["pane_not_found", "nothing was sent"],
  ["tmux_not_installed", "nothing was sent"],
  ["tmux_not_running", "nothing was sent"],
]);

const latencyText = (latencyMs: number): string =>
  latencyMs < 10_000 ? `${Math.round(latencyMs)} ms` : `${Math.round(latencyMs / 1_000)} s`;

/** `submitted · 84 ms`. */
export function deliveredText(delivery: string, latencyMs: number | undefined): string {
  const words = DELIVERED.get(delivery) ?? delivery.replaceAll("_", " ");
  return latencyMs === undefined ? words : `${words} · ${latencyText(latencyMs)}`;
}

/** Whether certainly nothing reached the program, so that a retry cannot answer twice. */
const nothingSent = (errorType: string): boolean =>
  NOTHING_SENT.has(errorType) || errorType.startsWith("invalid_") || errorType.startsWith("missing_");

export function failureText(errorType: string, message: string): string {
  const head =
    NOTHING_SENT.get(errorType) ??
    (nothingSent(errorType) ? "nothing was sent" : "may have been sent: look at the pane before you try again");
  return message === "" ? head : `${head} — ${message}`;
}
