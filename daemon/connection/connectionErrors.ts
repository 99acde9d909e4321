/** The errors for a missing or lost connection to tmux. */
import { AppError } from "../../protocol/errors.ts";

/** client.c `client_exit_message`. */
const SERVER_ENDED = "server exited";

/** For a connection that we closed because of a fault. */
export const faulty = (fault: string): AppError =>
  new AppError("CONNECTION_LOST", `the connection to tmux was dropped (${fault}); reconnecting`, {
    details: { reason: fault },
  });

/** Whether a connection was lost because the server ended, as tmux itself says before the server's socket is closed. */
export const meansServerEnded = (error: AppError): boolean => error.details?.["reason"] === SERVER_ENDED;

export const noConnection = (): AppError =>
  new AppError("CONNECTION_LOST", "tmux is not connected; reconnecting, try again shortly");

export const notResponding = (code: "CONNECTION_LOST" | "TMUX_UNAVAILABLE" = "CONNECTION_LOST"): AppError =>
  new AppError(code, "tmux does not respond; check with `pgrep tmux` whether its process is stopped");

/** tmux is on another machine, which cannot be reached. @param message what to do about it */
export const hostAway = (message: string, details: { readonly host: string; readonly state: string }): AppError =>
  new AppError("CONNECTION_LOST", message, { details: { reason: "host_away", ...details } });
