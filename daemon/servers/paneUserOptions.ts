/**
 * What we store on panes themselves, so that it outlives the daemon and goes with the pane: user options of the pane,
 * `@tmuxwire_NAME`, the only thing a guest ever sets. A value is written in percent-encoding, so that any text comes back
 * exactly and none of it means anything to tmux; whoever may use the socket can set such options too, so what is read
 * deserves no more trust than they do.
 */
import { listPanesWhere, setPaneOption, unsetPaneOption } from "../../protocol/command/build.ts";
import { paneOptionRows } from "../../protocol/command/formats.ts";
import { AppError } from "../../protocol/errors.ts";
import type { PaneId } from "../../protocol/ids.ts";
import { MAX_USER_OPTION_CHARS } from "../../protocol/limits.ts";
import { isRefusal } from "../connection/commandQueue.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import { paneGone } from "../panes/paneGone.ts";
import { TITLE_OPTION } from "./owned/hub.ts";

/** The option and what it is to be set to, undefined to unset it. @throws AppError INVALID_ARGUMENT */
export function userOptionOf(
  name: string,
  value: string | undefined,
): { readonly option: string; readonly text?: string } {
  const option = optionName(name);
  if (value === undefined) return { option };
  const text = encoded(value);
  if (text === undefined || text === "" || text.length > MAX_USER_OPTION_CHARS) {
    throw new AppError(
      "INVALID_ARGUMENT",
      `a pane's user option is 1 to ${MAX_USER_OPTION_CHARS} characters in percent-encoding; undefined removes it`,
    );
  }
  return { option, text };
}

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

/** Every pane that has this option. @throws AppError INVALID_ARGUMENT, CONNECTION_LOST */
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
    // Set by somebody else: no option of ours.
    if (value !== undefined) userOptions.set(pane, value);
  }
  return userOptions;
}

function optionName(name: string): string {
  const option = `@tmuxwire_${name}`;
  if (/^[a-z][a-z0-9_]{0,31}$/.test(name) && option !== TITLE_OPTION) return option;
  throw new AppError(
    "INVALID_ARGUMENT",
    "the name of a user option is a lower-case word of up to 32 letters, digits and _",
  );
}

/** Undefined for half a surrogate pair, which no bytes encode. */
function encoded(value: string): string | undefined {
  try {
    return encodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Undefined for what `encoded` does not produce. */
function decoded(text: string): string | undefined {
  try {
    const value = decodeURIComponent(text);
    return text.length <= MAX_USER_OPTION_CHARS && encodeURIComponent(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}
