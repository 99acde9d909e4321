/**
 * Restarts a pane's program in a new pane that takes the old one's place, because tmux's own `respawn-pane` can crash the
 * server while a control client has not taken all of the pane's output (docs/tmuxFacts.md 16). The new pane is made in its own
 * window, where there is always room, and the two are swapped; the old one is closed with that window.
 */
import { killPane, newWindow, type PaneTarget, swapPane } from "../../../protocol/command/layoutCommands.ts";
import { MADE_PANE } from "../../../protocol/command/formats.ts";
import type { RowOf } from "../../../protocol/command/rowFormat.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { WindowId } from "../../../protocol/ids.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { NewPaneProgram } from "../../../protocol/command/encode.ts";
import type { LayoutResult } from "../../tmux/layout.ts";

export interface RespawnHost {
  /** @throws AppError CONNECTION_LOST */
  connection(): ControlConnection;
  /** Resolves after a listing of all places and of these windows that was requested after this call. */
  list(windows: readonly WindowId[]): Promise<void>;
  /** Around `make`, which sends what starts this program in a pane at once. */
  starting<T>(command: readonly string[] | undefined, make: () => Promise<T>): Promise<T>;
}

/** The old pane's title, user options and own `remain-on-exit` are not carried over. */
export async function respawnPane(host: RespawnHost, old: PaneTarget, program: NewPaneProgram): Promise<LayoutResult> {
  const connection = host.connection();
  const { session, window, pane } = old;
  const made = await makePane(host, newWindow(session, { ...program, detached: true }), program.command);
  try {
    await connection.group([swapPane({ session, ...made }, old, true), killPane(pane)]);
  } catch (error) {
    if (!connection.closed) await connection.command(killPane(made.pane), "none").catch(() => undefined);
    await host.list([window, made.window]);
    throw error;
  }
  await host.list([window, made.window]);
  return { session, window, pane: made.pane };
}

/** @param command that prints `MADE_PANE` @param program that it starts */
export async function makePane(
  host: RespawnHost,
  command: string,
  program: readonly string[] | undefined,
): Promise<RowOf<typeof MADE_PANE>> {
  const { body } = await host.starting(program, () => host.connection().command(command));
  const made = MADE_PANE.decodeOne(body);
  if (made === undefined) throw new AppError("PROTOCOL_ERROR", "tmux did not report the new pane; list the panes");
  return made;
}
