/**
 * Keeps our client in its hub, and the hub whole, against what people and scripts type in panes (docs/tmuxFacts.md 51):
 * what a notification tells is acted on at once, the rest is asked for with each beat. What cannot be put right without
 * losing more is left with its connection; every byte that did not come meanwhile is a declared hole.
 */
import { displayMessage, renameSession } from "../../protocol/command/build.ts";
import { CLIENT_STATE_FORMAT, lines, type WindowLink } from "../../protocol/command/formats.ts";
import type { Notification } from "../../protocol/control/notifications.ts";
import type { PaneId, WindowId } from "../../protocol/ids.ts";
import { type Checkup, faulty } from "../connection/checkup.ts";
import { clientFault } from "./clientCheck.ts";
import { hubFault, hubStateFormat } from "./hub.ts";
import type { AttachedHub } from "./hubStartup.ts";
import type { Inventory } from "./inventory.ts";
import { OutputWatch } from "./outputWatch.ts";
import type { PaneRegistry } from "./paneRegistry.ts";

export interface HubGuardOptions {
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
  /** Windows that have left the hub, and may be elsewhere. */
  readonly #left = new Set<WindowId>();

  constructor(options: HubGuardOptions) {
    const { log } = options;
    this.#options = options;
    this.#outputs = new OutputWatch({
      windows: () => this.#windows(),
      panesOf: (window) => this.#panesOf(window),
      isThere: (session, window) => options.inventory.session(session)?.windows.includes(window) !== false,
      onMoved: options.onMoved,
      onHole: (panes) => {
        this.#declareHoles(panes);
        log?.("output.resumed", { panes: panes.length });
      },
    });
  }

  /** Another connection has been prepared. */
  begin(): void {
    this.#left.clear();
    this.#outputs.begin();
  }

  /** A pane's output came. On the path of output. */
  heard(paneNumber: number): void {
    this.#outputs.heard(paneNumber);
  }

  checkup({ session, name, hookIndex }: AttachedHub): Checkup {
    return {
      command: displayMessage(`${CLIENT_STATE_FORMAT} ${hubStateFormat(name, hookIndex)}`),
      fault: (answer) => clientFault(answer, session, true) ?? hubFault(lines(answer)[0]?.split(" ").slice(2) ?? []),
    };
  }

  beat({ connection, session }: AttachedHub): void {
    this.#outputs.look(connection, session);
  }

  noticed(notification: Notification): void {
    this.#outputs.noticed(notification);
    const hub = this.#options.hub();
    if (hub === undefined) return;
    if (notification.kind === "window-close" && !notification.linked) this.#left.add(notification.window);
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
    const existing = new Set(links.map(({ window }) => window));
    for (const window of this.#left) {
      if (existing.has(window)) this.#declareHoles(this.#options.inventory.panesOf(window));
    }
    this.#left.clear();
  }

  #windows(): readonly WindowId[] {
    const { hub, inventory } = this.#options;
    const [windows, own] = [inventory.windows().map(({ id }) => id), hub()];
    return own === undefined ? windows : [...windows, own.window];
  }

  /** The event pane's window is in no inventory. */
  #panesOf(window: WindowId): readonly PaneId[] {
    const { hub, inventory } = this.#options;
    const own = hub();
    return own?.window === window ? [own.pane] : inventory.panesOf(window);
  }

  #declareHoles(panes: readonly PaneId[]): void {
    for (const pane of panes) this.#options.panes.declareHole(pane, "paused");
  }
}
