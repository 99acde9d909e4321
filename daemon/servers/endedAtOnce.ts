/**
 * Why there is nothing to show of what was just made: the program that was started has ended at once. Where none was named
 * it was tmux's default shell, which tmux took from SHELL when its server started; an account that may not log in has one
 * that ends.
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
  return new AppError("TMUX_COMMAND_FAILED", `${what} ended at once; ${await triedWords(connection, command)}`);
}

async function triedWords(connection: ControlConnection, command: readonly string[] | undefined): Promise<string> {
  if (command !== undefined) return `${quoted(command[0])} was started: check that it exists and keeps running`;
  try {
    const [row] = await connection.foreignRows(SHELL_TRIED, displayMessage);
    if (row !== undefined) return shellWords(row);
  } catch {
    // Without the words of a server that has gone meanwhile.
  }
  return "check that its program exists and keeps running";
}

function shellWords({ shell, environment, defaultCommand }: Readonly<Record<string, unknown>>): string {
  const fromShell = environment === "" ? "SHELL is not set there" : `SHELL is ${quoted(environment)} there`;
  const ran =
    defaultCommand === ""
      ? `the shell ${quoted(shell)} was started`
      : `tmux's default-command ${quoted(defaultCommand)} was started by ${quoted(shell)}`;
  return `${ran} (${fromShell}): give a program, or end the tmux server and set SHELL to a shell that stays`;
}

const quoted = (text: unknown): string => JSON.stringify(text ?? "");
