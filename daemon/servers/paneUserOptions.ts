/**
 * Values stored on panes themselves, so that they outlive the daemon and end with the pane: user options `@tmuxwire_NAME`,
 * the only options we set on a guest. Values are percent-encoded, so that any text is preserved exactly and tmux interprets
 * none of it. Anyone who may use the socket can set such options too, so the values are not trusted.
 */
import { listPanesWhere, setPaneOption, unsetPaneOption } from "../../protocol/command/build.ts";
import { paneOptionRows } from "../../protocol/command/formats.ts";
import { invalidArgument } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { MAX_USER_OPTION_CHARS } from "../../protocol/limits.ts";
import { isRefusal } from "../connection/commandQueue.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { CreateSession } from "../tmux/inventory.ts";
import type { SessionToMake } from "./sessionMaking.ts";
import { paneGone } from "../panes/paneGone.ts";
import { TITLE_OPTION } from "./owned/hub.ts";

/** The option's name and encoded value; undefined unsets it. @throws AppError INVALID_ARGUMENT */
export function userOptionOf(
  name: string,
  value: string | undefined,
): { readonly option: string; readonly text?: string } {
  const option = optionName(name);
  if (value === undefined) return { option };
  const text = encoded(value);
  if (text === undefined || text === "" || text.length > MAX_USER_OPTION_CHARS) {
    throw invalidArgument(
      `a pane's user option must have 1 to ${MAX_USER_OPTION_CHARS} percent-encoded characters; undefined removes it`,
    );
  }
  return { option, text };
}

/** The commands that set a new session's, in the step that creates it. @throws AppError INVALID_ARGUMENT */
export const userOptionsOf = ({ userOptions = {} }: CreateSession): SessionToMake["setUp"] =>
  Object.entries(userOptions).map(([name, value]) => {
    const { option, text = "" } = userOptionOf(name, value);
    return (made) => setPaneOption(made, option, text);
  });

/** @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST */
export async function writePaneUserOption(
  connection: ControlConnection,
  pane: PaneId,
  name: string,
  value: string | undefined,
): Promise<void> {
  const { option, text } = userOptionOf(name, value);
  const command = text === undefined ? unsetPaneOption(pane, option) : setPaneOption(pane, option, text);
  try {
    await connection.command(command, "none");
  } catch (error) {
    throw isRefusal(error) ? paneGone(pane, error) : error;
  }
}

/** All panes that have this option. @throws AppError INVALID_ARGUMENT, CONNECTION_LOST */
export async function readPaneUserOptions(
  connection: ControlConnection,
  name: string,
): Promise<ReadonlyMap<PaneId, string>> {
  const option = optionName(name);
  const rows = await connection.foreignRows(paneOptionRows(option), (format) =>
    listPanesWhere(`#{!=:#{${option}},}`, format),
  );
  const userOptions = new Map<PaneId, string>();
  for (const { pane, text } of rows) {
    const value = decoded(text);
    // Not a value that we have written.
    if (value !== undefined) userOptions.set(pane, value);
  }
  return userOptions;
}

function optionName(name: string): string {
  const option = `@tmuxwire_${name}`;
  if (/^[a-z][a-z0-9_]{0,31}$/.test(name) && option !== TITLE_OPTION) return option;
  throw invalidArgument("the name of a user option must be a lower-case word of up to 32 letters, digits and _");
}

/** Undefined for a lone surrogate, which cannot be encoded. */
function encoded(value: string): string | undefined {
  try {
    return encodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Undefined for text that `encoded` does not produce. */
function decoded(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text);
    return text.length <= MAX_USER_OPTION_CHARS && encodeURIComponent(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
