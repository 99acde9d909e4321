/** What became of an answer, in the page's words. The server's own message follows wherever it says more. */

const DELIVERED: ReadonlyMap<string, string> = new Map([
  ["submitted", "submitted"],
  ["queued", "queued: the agent is busy and takes it next"],
  ["echoed_unconfirmed", "typed and entered, not confirmed: look at the pane"],
]);

/** Errors after which the text is known not to have been entered. */
const NOTHING_SENT: ReadonlyMap<string, string> = new Map([
  ["not_echoed", "not echoed, nothing was sent"],
  ["wrong_state", "nothing was sent"],
  ["no_pane_id", "nothing was sent"],
  ["agent_not_found", "nothing was sent"],
  ["pane_not_found", "nothing was sent"],
  ["tmux_not_installed", "nothing was sent"],
  ["tmux_not_running", "nothing was sent"],
]);

export const latencyText = (latencyMs: number): string =>
  latencyMs < 10_000 ? `${Math.round(latencyMs)} ms` : `${Math.round(latencyMs / 1_000)} s`;

/** `submitted · 84 ms`. */
export function deliveredText(delivery: string, latencyMs: number | undefined): string {
  const words = DELIVERED.get(delivery) ?? delivery.replaceAll("_", " ");
  return latencyMs === undefined ? words : `${words} · ${latencyText(latencyMs)}`;
}

/** Whether it is certain that nothing reached the program, so that another try cannot answer twice. */
export const nothingSent = (errorType: string): boolean =>
  NOTHING_SENT.has(errorType) || errorType.startsWith("invalid_") || errorType.startsWith("missing_");

export function failureText(errorType: string, message: string): string {
  const head =
    NOTHING_SENT.get(errorType) ??
    (nothingSent(errorType) ? "nothing was sent" : "may have been sent: look at the pane before you try again");
  return message === "" ? head : `${head} — ${message}`;
}
