/** What only tmux knows about a pane, asked now: program, directory, title, history. */
import { displayMessage } from "../../protocol/command/build.ts";
import { PANE_DETAILS, type PaneDetailsRow } from "../../protocol/command/formats.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { ControlConnection } from "../connection/controlConnection.ts";
import type { PaneDetails } from "../tmux/io.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import { paneGone } from "./paneGone.ts";
import { readForeground } from "./foreground.ts";
import type { PaneForeground } from "../tmux/processes.ts";

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export async function askPaneDetails(connection: ControlConnection, pane: PaneId): Promise<PaneDetails> {
  const { command, path, title, tty, historyLines, alternateScreen, inMode } = await askRow(connection, pane);
  return { command, cwd: path, title, tty, historyLines, alternateScreen, inMode };
}

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export async function askForeground(
  connection: ControlConnection,
  pane: PaneId,
  probe: () => Promise<HostProcesses>,
): Promise<PaneForeground> {
  const { pid, command } = await askRow(connection, pane);
  // From 3.8 on tmux forgets the process of a pane whose program has ended: nobody reads then.
  return { pid, command, processes: pid === undefined ? [] : readForeground(pid, await probe()) };
}

async function askRow(connection: ControlConnection, pane: PaneId): Promise<PaneDetailsRow> {
  const [row] = await connection.foreignRows(PANE_DETAILS, (format) => displayMessage(format, pane));
  // An unknown target is no error to tmux: its fields are empty, or another pane's.
  if (row?.pane !== pane) throw paneGone(pane);
  return row;
}
