/**
 * Keeps our client in its hub, and the hub whole, against what people and scripts type in panes (docs/tmuxFacts.md 51):
 * what a notification tells is acted on at once, the rest is asked for with each beat. What cannot be put right without
 * losing more is left with its connection; every byte that did not come meanwhile is a declared hole.
 */
import { displayMessage, renameSession, turnPanesOn } from "../../../protocol/command/build.ts";
import type { WindowLink } from "../../../protocol/command/formats.ts";
import type { Notification } from "../../../protocol/control/notifications.ts";
import type { PaneId, WindowId } from "../../../protocol/ids.ts";
import { type Checkup, faulty } from "../../connection/checkup.ts";
import { clientFault } from "../clientCheck.ts";
import { hubFault, hubState, RENAMED } from "./hub.ts";
import type { AttachedHub } from "./hubStartup.ts";
import type { Inventory } from "../serverInventory.ts";
import { OutputWatch } from "../outputWatch.ts";
import type { PaneRegistry } from "../paneRegistry.ts";

interface HubGuardOptions {
  readonly inventory: Inventory;
  readonly panes: PaneRegistry;
  /** The inventory is not true any more, and nothing told. */
  readonly onMoved: () => void;
  readonly hub: () => AttachedHub | undefined;
  readonly log: ((event: string, fields: object) => void) | undefined;
}

export class HubGuard {
  readonly #options: HubGuardOptions;
  readonly #outputs: OutputWatch;
  /** Windows that have left a session, and may be in another: the hub's, or perhaps somebody's, where tmux does not say. */
  readonly #left = new Map<WindowId, "hub" | "perhaps">();
  /** At the last beat the hub had another name. */
  #isRenamed = false;

  constructor(options: HubGuardOptions) {
    this.#options = options;
    this.#outputs = new OutputWatch({
      windows: () => this.#windows(),
      panesOf: (window) => this.#panesOf(window),
      isThere: (session, window) => options.inventory.session(session)?.windows.includes(window) !== false,
      onMoved: options.onMoved,
      // Of the others the hub's hook tells, in this one.
      mayBeUnread: () => this.#eventPane(),
      onHole: (panes) => this.#resumed(panes),
    });
  }

  /** Another connection has been prepared. */
  begin(): void {
    this.#left.clear();
    this.#isRenamed = false;
    this.#outputs.begin();
  }

  /** A pane's output came. On the path of output. */
  heard(paneNumber: number): void {
    this.#outputs.heard(paneNumber);
  }

  checkup({ session, name, hookIndex }: AttachedHub): Checkup {
    const state = hubState(name, hookIndex);
    return {
      command: displayMessage(state.format),
      fault: (answer) => clientFault(answer, session, true) ?? this.#lasting(hubFault(state.decodeOne(answer))),
    };
  }

  beat({ connection, session }: AttachedHub): void {
    this.#outputs.probe(connection, session);
  }

  /**
   * Somebody has turned panes off for a client of theirs or ours. Which and whose would have to be read from what was typed;
   * it is too rare for that.
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
    this.#outputs.noticed(notification);
    const hub = this.#options.hub();
    if (hub === undefined) return;
    if (notification.kind === "window-close" && !notification.linked) this.#left.set(notification.window, "hub");
    if (!hub.connection.features.reportsOwnUnlink) this.#noticedUnsaid(notification);
    // Somebody's command took our client for theirs: what the hub gets does not come to where it is now.
    if (notification.kind === "session-changed" && notification.session !== hub.session)
      hub.connection.close(faulty("it was moved to another session"));
    // The hub's hooks know it by its name. Where the name cannot be had back, the next beat leaves.
    if (
      notification.kind === "session-renamed" &&
      notification.session === hub.session &&
      notification.name !== hub.name
    )
      hub.connection.send(renameSession(hub.session, hub.name), "none", () => undefined);
  }

  /** Every window of every session: what one wrote while it was not in the hub did not reach us. */
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
   * From 3.8 on tmux says the same of every window of ours that leaves a session. One that has left the hub is not there
   * when it is listed, or was linked again before that.
   */
  #noticedUnsaid(notification: Notification): void {
    if (notification.kind === "window-close" && !this.#left.has(notification.window))
      this.#left.set(notification.window, "perhaps");
    if (notification.kind === "window-add" && notification.linked && this.#left.has(notification.window))
      this.#left.set(notification.window, "hub");
  }

  /** A name is taken back as soon as its loss is told, which may be after it was seen here. */
  #lasting(fault: string | undefined): string | undefined {
    const wasRenamed = this.#isRenamed;
    this.#isRenamed = fault === RENAMED;
    return this.#isRenamed && !wasRenamed ? undefined : fault;
  }

  #windows(): readonly WindowId[] {
    const { hub, inventory } = this.#options;
    const [windows, own] = [inventory.windows().map(({ id }) => id), hub()];
    return own === undefined ? windows : [...windows, own.window];
  }

  #eventPane(): readonly PaneId[] {
    const hub = this.#options.hub();
    return hub === undefined ? [] : [hub.pane];
  }

  /** The event pane's window is in no inventory. */
  #panesOf(window: WindowId): readonly PaneId[] {
    const { hub, inventory } = this.#options;
    const own = hub();
    return own?.window === window ? [own.pane] : inventory.panesOf(window);
  }

  #resumed(panes: readonly PaneId[]): void {
    // Nobody reads the event pane but us: events that may be lost are made good by listing everything again.
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
