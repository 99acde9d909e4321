/** The one error for a pane that tmux does not know (any longer), however tmux words it. */
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";

/** The last: the server's last session is gone with all panes, and the server has not ended yet (`cmd_find_target`). */
const NO_SUCH_PANE = /can't find (?:pane|window)|no current target/;

export const paneGone = (pane: PaneId, cause?: AppError): AppError =>
  new AppError(
    "NOT_FOUND",
    `pane ${pane} is gone; list the panes again`,
    ...(cause === undefined ? [] : ([{ cause }] as const)),
  );

/** The error of a command with this pane as its target; `NOT_FOUND` when it says that the pane is missing. */
export const targetError = (pane: PaneId, error: AppError): AppError =>
  error.code === "TMUX_COMMAND_FAILED" && NO_SUCH_PANE.test(error.message) ? paneGone(pane, error) : error;
