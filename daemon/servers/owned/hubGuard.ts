/**
 * Keeps our client in its hub, and the hub intact, whatever people and scripts type in panes (docs/tmuxFacts.md 51). Problems
 * that a notification or a hook reports are handled at once, others when tmux says once a second how our client is
 * (`ClientReports`); the heartbeat asks, in case it says nothing. If a repair would lose more than reconnecting does, the
 * connection is closed; all output missed meanwhile is declared as a gap.
 */
import { displayMessage, renameSession, turnPanesOn } from "../../../protocol/command/build.ts";
import type { WindowLink } from "../../../protocol/command/formats.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import type { PaneId, WindowId } from "../../../protocol/ids.ts";
import { faulty, noConnection } from "../../connection/connectionErrors.ts";
import type { Clock } from "../../time/clock.ts";
import { clientFault, type StateCheckup } from "../clientCheck.ts";
import { ClientReports } from "../clientReports.ts";
import { hubFault, hubState, RENAMED } from "./hub.ts";
import type { AttachedHub } from "./hubStartup.ts";
import type { InventoryStore } from "../inventory/inventoryStore.ts";
import { OutputWatch } from "../outputWatch.ts";
import type { PaneRegistry } from "../paneRegistry.ts";

interface HubGuardOptions {
  readonly clock: Clock;
  readonly inventory: InventoryStore;
  readonly panes: PaneRegistry;
  /** Called when the inventory is out of date without a notification. */
  readonly onMoved: () => void;
  readonly hub: () => AttachedHub | undefined;
  /** tmux is silent although it should have said something. */
  readonly onLate: () => void;
  readonly log: ((event: string, fields: object) => void) | undefined;
}

export class HubGuard {
  readonly #options: HubGuardOptions;
  /** To be told of all output, and asked with each heartbeat. */
  readonly outputs: OutputWatch;
  readonly #reports: ClientReports;
  /** Windows that left a session: the hub, or perhaps the hub if tmux does not say which. */
  readonly #left = new Map<WindowId, "hub" | "perhaps">();
  /** Of what is asked and what tmux says itself: those that said that the hub has another name. */
  readonly #renamed = new Set<"heartbeat" | "report">();

  constructor(options: HubGuardOptions) {
    this.#options = options;
    this.outputs = new OutputWatch({
      clock: options.clock,
      windows: () => this.#windows(),
      panesOf: (window) => this.#panesOf(window),
      isThere: (session, window) => options.inventory.hasWindow(session, window) !== false,
      onMoved: options.onMoved,
      // The hub's hook reports other panes, through this one.
      mayBeUnread: () => this.places,
      onHole: (panes) => this.#resumed(panes),
    });
    const hub = (): AttachedHub => {
      const attached = options.hub();
      if (attached === undefined) throw noConnection();
      return attached;
    };
    this.#reports = new ClientReports({
      clock: options.clock,
      connection: () => hub().connection,
      places: () => this.places,
      session: () => options.hub()?.session,
      checkup: () => this.checkup(hub(), "report"),
      onWritten: (written) => this.outputs.reported(written),
      onLate: options.onLate,
    });
  }

  /** Call when a new connection has been prepared. */
  begin(): void {
    this.#left.clear();
    this.#renamed.clear();
    const hub = this.#options.hub();
    if (hub !== undefined) this.outputs.begin(hub.connection, hub.session);
    this.#reports.begin();
  }

  /** Call when the connection has ended. Safe to call twice. */
  end(): void {
    this.outputs.end();
    this.#reports.end();
  }

  checkup({ session, name, hookIndex }: AttachedHub, by: "heartbeat" | "report" = "heartbeat"): StateCheckup {
    const state = hubState(name, hookIndex);
    return {
      format: state.format,
      command: displayMessage(state.format),
      fault: (reply) => clientFault(reply, session, true) ?? this.#lasting(hubFault(state.decodeOne(reply)), by),
    };
  }

  /**
   * Call when somebody has turned panes off, for their own client or for ours. Only the typed command says which panes and for
   * whom; this is too rare to parse it, so all panes are turned on.
   */
  turnedOff(): void {
    const hub = this.#options.hub();
    const panes = this.#windows().flatMap((window) => this.#panesOf(window));
    if (hub === undefined || panes.length === 0) return;
    hub.connection.sendGroup(turnPanesOn(panes), (outcome) => {
      if (!("error" in outcome)) this.#resumed(panes);
    });
  }

  noticed(notification: Notification): void {
    this.outputs.noticed(notification);
    this.#reports.noticed(notification);
    const hub = this.#options.hub();
    if (hub === undefined) return;
    if (notification.kind === "window-close" && !notification.linked) this.#left.set(notification.window, "hub");
    if (!hub.connection.features.reportsOwnUnlink) this.#noticedUnlinked(notification);
    // Somebody's command moved our client; in another session, it does not get the hub's output.
    if (notification.kind === "session-changed" && notification.session !== hub.session)
      hub.connection.close(faulty("it was moved to another session"));
    // The hub's hooks use its name. If it cannot be renamed back, the next heartbeat closes the connection.
    if (
      notification.kind === "session-renamed" &&
      notification.session === hub.session &&
      notification.name !== hub.name
    )
      hub.connection.send(renameSession(hub.session, hub.name), "none", () => undefined);
  }

  /** Takes every window of every session; output of a window while it was outside the hub did not reach us. */
  listed(links: readonly WindowLink[]): void {
    const own = this.#options.hub()?.session;
    const existing = new Set(links.map(({ window }) => window));
    const inHub = new Set(links.filter(({ session }) => session === own).map(({ window }) => window));
    for (const [window, from] of this.#left) {
      const hasLeft = from === "hub" || !inHub.has(window);
      if (hasLeft && existing.has(window)) this.#declareHoles(this.#options.inventory.panesOf(window));
    }
    this.#left.clear();
  }

  /**
   * From 3.8 on, tmux's notification does not say which session a window has left. One that left the hub is missing from the
   * next listing, or was linked again before it.
   */
  #noticedUnlinked(notification: Notification): void {
    if (notification.kind === "window-close" && !this.#left.has(notification.window))
      this.#left.set(notification.window, "perhaps");
    if (notification.kind === "window-add" && notification.linked && this.#left.has(notification.window))
      this.#left.set(notification.window, "hub");
  }

  /** Ignores a changed name once: it is restored when the notification comes, which may be after this check. */
  #lasting(fault: string | undefined, by: "heartbeat" | "report"): string | undefined {
    const wasRenamed = this.#renamed.delete(by);
    if (fault !== RENAMED) return fault;
    this.#renamed.add(by);
    return wasRenamed ? fault : undefined;
  }

  #windows(): readonly WindowId[] {
    const own = this.#options.hub();
    const windows = this.#options.inventory.windows().map(({ id }) => id);
    return own === undefined ? windows : [...windows, own.window];
  }

  /** The event pane, in the session that our client is in. */
  get places(): readonly PaneId[] {
    const hub = this.#options.hub();
    return hub === undefined ? [] : [hub.pane];
  }

  /** Includes the event pane's window, which is not in the inventory. */
  #panesOf(window: WindowId): readonly PaneId[] {
    const { hub, inventory } = this.#options;
    const own = hub();
    return own?.window === window ? [own.pane] : inventory.panesOf(window);
  }

  #resumed(panes: readonly PaneId[]): void {
    // Only we read the event pane; listing everything again makes up for events that may be lost.
    const own = this.#options.hub()?.pane;
    if (own !== undefined && panes.includes(own)) this.#options.onMoved();
    const others = panes.filter((pane) => pane !== own);
    if (others.length === 0) return;
    this.#declareHoles(others);
    this.#options.log?.("output.resumed", { panes: others.length });
  }

  #declareHoles(panes: readonly PaneId[]): void {
    for (const pane of panes) this.#options.panes.declareHole(pane, "paused");
  }
}
