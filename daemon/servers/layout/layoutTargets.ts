/** Looks up the windows, panes and sessions that an operation names, each with its session. */
import type { PaneTarget, WindowTarget } from "../../../protocol/command/layoutCommands.ts";
import { AppError } from "../../../protocol/errors.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { PaneInfo } from "../../tmux/inventory.ts";
import type { InventoryStore } from "../inventory/inventoryStore.ts";
import { sessionGone } from "../sessionRules.ts";

export interface TargetHost {
  readonly inventory: InventoryStore;
  /** Called before a target is reported as missing. @throws AppError CONNECTION_LOST if nothing is known about the server */
  requireKnown(): void;
}

export const sessionsWith = ({ inventory }: TargetHost, window: WindowId): readonly SessionId[] =>
  inventory
    .sessions()
    .filter(({ windows }) => windows.includes(window))
    .map(({ id }) => id);

/** The sessions whose only window this is. */
export const sessionsOnlyOf = ({ inventory }: TargetHost, window: WindowId): readonly SessionId[] =>
  inventory
    .sessions()
    .filter(({ windows }) => windows.length > 0 && windows.every((other) => other === window))
    .map(({ id }) => id);

export function requireSession(host: TargetHost, session: SessionId): void {
  if (host.inventory.session(session) !== undefined) return;
  host.requireKnown();
  throw sessionGone(session);
}

export function windowTarget(host: TargetHost, window: WindowId, of?: SessionId): WindowTarget {
  const sessions = sessionsWith(host, window);
  const session = of === undefined ? sessions[0] : sessions.find((id) => id === of);
  if (session !== undefined) return { session, window };
  host.requireKnown();
  const where = of === undefined ? "" : ` in session ${of}`;
  throw new AppError("NOT_FOUND", `window ${window} does not exist${where}; list the windows again`);
}

export const paneTarget = (host: TargetHost, pane: PaneId): PaneTarget => ({
  ...windowTarget(host, requirePane(host, pane).window),
  pane,
});

export function requirePane(host: TargetHost, pane: PaneId): PaneInfo {
  const info = host.inventory.findPane(pane);
  if (info !== undefined) return info;
  host.requireKnown();
  throw new AppError("NOT_FOUND", `pane ${pane} does not exist; list the panes again`);
}
