/**
 * Keeps the hub's windows the same as those of all sessions. A window that is only in the hub has lost its session, and tmux
 * alone would have closed it, so it is closed (docs/tmuxFacts.md 30). A window that somebody created in the hub, where it is
 * invisible, is moved to the most recently used session (54). A window that is in a session but not in the hub was unlinked
 * by somebody, and is linked again, because we get no output from outside the hub.
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
  /** Our hub and those of daemons that are ending. */
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
      // If there is no session at all, it waits for one.
      if (home !== undefined)
        hub.connection.sendGroup([linkWindow(window, home), unsetWindowOption(window, STRAY_OPTION)], ignore);
      continue;
    }
    // A live window is not unlinked while its output may still be in transit to us (docs/tmuxFacts.md 16).
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
