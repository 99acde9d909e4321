/**
 * Sessions of an owned server: created in one step with everything that must be set when their program starts, and killed
 * together with the windows that the hub would keep alive.
 */
import {
  type JustMade,
  killSession,
  setWindowOption,
  turnPaneOff,
  unlinkWindow,
  writeNothingAtExit,
} from "../../../protocol/command/build.ts";
import type { SessionId } from "../../../protocol/ids.ts";
import { ignoreRefusal } from "../../connection/commandQueue.ts";
import type { ControlConnection } from "../../connection/controlConnection.ts";
import type { OwnedInventory } from "./ownedInventory.ts";
import { withGracePeriod } from "../gracePeriod.ts";
import { userOptionsOf } from "../paneUserOptions.ts";
import type { SessionToMake } from "../sessionMaking.ts";
import { sessionGone } from "../sessionRules.ts";
import type { CreateSession } from "../../tmux/inventory.ts";

const DEFAULT_COLS = 80;
const DEFAULT_ROWS = 24;

/** @throws AppError NOT_FOUND, CONNECTION_LOST */
export async function killOwnedSession(
  connection: ControlConnection,
  keeper: OwnedInventory,
  session: SessionId,
): Promise<void> {
  const { inventory } = keeper;
  const { session: hub } = keeper.requireHub();
  if (inventory.session(session) === undefined) throw sessionGone(session);
  // The hub still holds these windows, so they must be removed from it too (docs/tmuxFacts.md 16, 30).
  const windows = inventory.windowsOnlyIn(session);
  const panes = windows.flatMap((window) => inventory.panesOf(window));
  try {
    await connection.group([
      ...panes.map(turnPaneOff),
      killSession(session),
      ...windows.map((window) => unlinkWindow(window, hub)),
    ]);
  } catch (error) {
    // Part of it has already ended; tmux knows what is left.
    ignoreRefusal(error);
    await keeper.refresher.refresh();
    if (inventory.session(session) === undefined) return;
    await connection.command(killSession(session), "none");
  }
  await keeper.refresher.refresh();
}

export function ownedSession(request: CreateSession, keep: boolean): SessionToMake {
  const { name, cwd, environment, windowName } = request;
  const hasGrace = keep && request.direct !== true;
  const keepIt = keep ? [(made: JustMade) => setWindowOption(made, "remain-on-exit", "on")] : [];
  // A caller that asks for `direct` reads tmux's own note at the program's end (docs/contracts/team.md).
  if (hasGrace) keepIt.push(writeNothingAtExit);
  const userOptions = userOptionsOf(request);
  return {
    name,
    cwd,
    command: hasGrace && request.command !== undefined ? withGracePeriod(request.command) : request.command,
    environment,
    windowName,
    cols: request.cols ?? DEFAULT_COLS,
    rows: request.rows ?? DEFAULT_ROWS,
    setUp: [...keepIt, ...userOptions],
  };
}
