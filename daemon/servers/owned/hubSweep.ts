/**
 * Keeps the hub's windows the same as everybody's. A window that is only in the hub has lost its session: tmux would have
 * closed it (docs/tmuxFacts.md 30). One that somebody made in the hub, where nobody sees it, is given to the session that
 * was used last (54). One that is in a session but not in the hub was unlinked by somebody: outside the hub we would not
 * hear it.
 */
import {
  linkWindow,
  turnPaneOff,
  turnPanesOn,
  unlinkWindow,
  unsetWindowOption,
} from "../../../protocol/command/build.ts";
import { STRAY_OPTION, type WindowLink } from "../../../protocol/command/formats.ts";
import type { PaneId, SessionId, WindowId } from "../../../protocol/ids.ts";
import type { AttachedHub } from "./hubStartup.ts";

interface HubSweep {
  readonly hub: AttachedHub;
  /** Hubs, ours and those of daemons that are going. */
  readonly hubs: ReadonlySet<SessionId>;
  /** The most recently used session that is not a hub. */
  readonly home: SessionId | undefined;
  /** Every window of every session, including the hubs'. */
  readonly links: readonly WindowLink[];
  readonly panesOf: (window: WindowId) => readonly PaneId[];
}

export function sweepHub({ hub, hubs, home, links, panesOf }: HubSweep): void {
  const inHub = new Set(links.filter((link) => link.session === hub.session).map((link) => link.window));
  const strays = new Set(links.filter((link) => link.stray).map((link) => link.window));
  const elsewhere = new Set(links.filter((link) => link.session !== hub.session).map((link) => link.window));
  const ignore = (): void => undefined;
  for (const window of inHub) {
    if (window === hub.window || elsewhere.has(window)) continue;
    if (strays.has(window)) {
      // While there is no session at all it waits for one: there is nowhere to show it.
      if (home !== undefined)
        hub.connection.sendGroup([linkWindow(window, home), unsetWindowOption(window, STRAY_OPTION)], ignore);
      continue;
    }
    // A live window is not unlinked while its output may be on its way to us (docs/tmuxFacts.md 16).
    const silence = panesOf(window).map(turnPaneOff);
    hub.connection.sendGroup([...silence, unlinkWindow(window, hub.session)], ignore);
  }
  for (const { session, window } of links) {
    if (hubs.has(session) || inHub.has(window)) continue;
    inHub.add(window);
    const listen = turnPanesOn(panesOf(window));
    hub.connection.sendGroup([linkWindow(window, hub.session), ...listen], ignore);
  }
}
