/** Why there is no connection to tmux, or not any more. */
import { AppError } from "../../protocol/errors.ts";

/** client.c `client_exit_message`. */
const SERVER_ENDED = "server exited";

/** We closed a connection of ours. */
export const faulty = (fault: string): AppError =>
  new AppError("CONNECTION_LOST", `the connection to tmux was dropped (${fault}); reconnecting`, {
    details: { reason: fault },
  });

/** Whether a connection was lost because the server ended, as tmux itself says before the server's socket is closed. */
export const meansServerEnded = (error: AppError): boolean => error.details?.["reason"] === SERVER_ENDED;

export const noConnection = (): AppError =>
  new AppError("CONNECTION_LOST", "there is no connection to tmux at the moment; try again shortly");

export const notResponding = (code: "CONNECTION_LOST" | "TMUX_UNAVAILABLE" = "CONNECTION_LOST"): AppError =>
  new AppError(code, "tmux does not respond; is its process stopped? (pgrep tmux)");
