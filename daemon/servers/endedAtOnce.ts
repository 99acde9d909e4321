/**
 * Explains why a new pane or session is already gone: its program exited immediately. If no program was named, it was tmux's
 * default shell, which tmux takes from SHELL when its server starts; an account that may not log in has a shell that exits.
 */
import { displayMessage } from "../../protocol/command/build.ts";
import { SHELL_TRIED } from "../../protocol/command/formats.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";

/** @param what such as "the pane" */
export async function endedAtOnce(
  connection: ControlConnection,
  what: string,
  command: readonly string[] | undefined,
): Promise<AppError> {
  return new AppError("TMUX_COMMAND_FAILED", `${what} closed at once: ${await triedWords(connection, command)}`);
}

async function triedWords(connection: ControlConnection, command: readonly string[] | undefined): Promise<string> {
  if (command !== undefined) return `${quoted(command[0])} exited immediately; check that it exists and keeps running`;
  try {
    const [row] = await connection.foreignRows(SHELL_TRIED, displayMessage);
    if (row !== undefined) return shellWords(row);
  } catch {
    // The server is gone meanwhile, so nothing more is known.
  }
  return "its program exited immediately; check that it exists and keeps running";
}

function shellWords({ shell, environment, defaultCommand }: Readonly<Record<string, unknown>>): string {
  const fromShell =
    environment === "" ? "SHELL is not set in the tmux server" : `SHELL is ${quoted(environment)} in the tmux server`;
  const ran =
    defaultCommand === ""
      ? `the shell ${quoted(shell)} exited immediately`
      : `tmux's default-command ${quoted(defaultCommand)}, run by ${quoted(shell)}, exited immediately`;
  return `${ran} (${fromShell}); give a program, or kill the tmux server and set SHELL to a working shell`;
}

const quoted = (text: unknown): string => JSON.stringify(text ?? "");
