/**
 * The windows and panes of a tmux server, their changes, and the operations on them: types only. Everything is addressed by
 * id. An operation is named after its tmux command and does the same.
 */
import type { NewPaneProgram, PanePlace, PaneSize } from "../../protocol/command/encode.ts";
import type { PaneId, SessionId, WindowId } from "../../protocol/ids.ts";
import type { LayoutCell } from "../../protocol/windowLayout.ts";
import type { ExitStatus } from "./outputSource.ts";

/** A window's index in a session. */
export interface WindowPlace {
  readonly index: number;
  readonly window: WindowId;
}

export interface TreeSession {
  readonly id: SessionId;
  /** Foreign text, as all names and titles here. */
  readonly name: string;
  readonly createdSec: number;
  /** By index. A window can be in several sessions, and more than once in one. */
  readonly windows: readonly WindowPlace[];
  readonly activeWindow: WindowId | null;
}

/** The properties that change together when panes are moved, split, resized or zoomed. */
export interface WindowShape {
  readonly cols: number;
  readonly rows: number;
  /** tmux's layout string; empty for the stub. */
  readonly layout: string;
  /** The same as a tree; null if we cannot parse it, for instance from a later tmux. */
  readonly root: LayoutCell | null;
  /** Whether the active pane covers the window; `layout` is then the one behind it. */
  readonly zoomed: boolean;
  /** In tmux's order (`pane_index`). */
  readonly panes: readonly PaneId[];
}

export interface TreeWindow extends WindowShape {
  readonly id: WindowId;
  readonly name: string;
  readonly activePane: PaneId | null;
}

export interface TreePane {
  readonly id: PaneId;
  readonly window: WindowId;
  /** Its size in the layout; for a zoomed pane, the window's. */
  readonly cols: number;
  readonly rows: number;
  readonly pid: number;
  readonly title: string;
  /** Null while its program runs. */
  readonly exit: ExitStatus | null;
}

/** Everything needed to draw a server. Sessions are sorted by name, windows and panes by id. */
export interface ServerTree {
  readonly sessions: readonly TreeSession[];
  readonly windows: readonly TreeWindow[];
  readonly panes: readonly TreePane[];
}

/**
 * One difference between two trees. The events of one listing are ordered so that nothing is named before it is created or
 * after it is gone; applied to the old tree, they give the new one (`applyTreeEvent`).
 */
export type TreeEvent =
  | { readonly type: "window-created"; readonly window: TreeWindow }
  | { readonly type: "pane-created"; readonly pane: TreePane }
  | { readonly type: "pane-moved"; readonly pane: PaneId; readonly window: WindowId }
  | ({ readonly type: "layout-changed"; readonly window: WindowId } & WindowShape)
  | { readonly type: "window-pane-changed"; readonly window: WindowId; readonly pane: PaneId | null }
  | { readonly type: "window-renamed"; readonly window: WindowId; readonly name: string }
  | { readonly type: "pane-resized"; readonly pane: PaneId; readonly cols: number; readonly rows: number }
  | { readonly type: "pane-title-changed"; readonly pane: PaneId; readonly title: string }
  | { readonly type: "pane-exited"; readonly pane: PaneId; readonly exit: ExitStatus }
  /** Another program now runs in the pane. */
  | { readonly type: "pane-respawned"; readonly pane: PaneId; readonly pid: number }
  | { readonly type: "session-created"; readonly session: TreeSession }
  | { readonly type: "session-renamed"; readonly session: SessionId; readonly name: string }
  /** Windows were added, removed or got another index. */
  | { readonly type: "session-windows-changed"; readonly session: SessionId; readonly windows: readonly WindowPlace[] }
  | { readonly type: "session-window-changed"; readonly session: SessionId; readonly window: WindowId | null }
  | { readonly type: "session-closed"; readonly session: SessionId }
  | { readonly type: "pane-closed"; readonly pane: PaneId }
  | { readonly type: "window-closed"; readonly window: WindowId };

type Direction = "up" | "down" | "left" | "right";

export const NAMED_LAYOUTS = ["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"] as const;

export type LayoutOperation =
  | ({
      readonly kind: "new-window";
      readonly session: SessionId;
      readonly name?: string | undefined;
      /** A window in the same session; the new one comes right after it. */
      readonly after?: WindowId | undefined;
      readonly detached?: boolean | undefined;
    } & NewPaneProgram)
  | ({ readonly kind: "split-window"; readonly pane: PaneId } & PanePlace & NewPaneProgram)
  | { readonly kind: "kill-pane"; readonly pane: PaneId }
  | { readonly kind: "kill-window"; readonly window: WindowId }
  | { readonly kind: "rename-window"; readonly window: WindowId; readonly name: string }
  | { readonly kind: "rename-session"; readonly session: SessionId; readonly name: string }
  /** With a direction, selects its neighbour. */
  | { readonly kind: "select-pane"; readonly pane: PaneId; readonly direction?: Direction | undefined }
  /** Without a session, in every session that has the window. */
  | { readonly kind: "select-window"; readonly window: WindowId; readonly session?: SessionId | undefined }
  | {
      readonly kind: "swap-pane";
      readonly pane: PaneId;
      readonly with: PaneId;
      readonly detached?: boolean | undefined;
    }
  | ({ readonly kind: "move-pane" | "join-pane"; readonly pane: PaneId; readonly to: PaneId } & PanePlace)
  | {
      readonly kind: "break-pane";
      readonly pane: PaneId;
      /** Default: the session that the pane is in. */
      readonly session?: SessionId | undefined;
      readonly name?: string | undefined;
      readonly detached?: boolean | undefined;
    }
  | {
      readonly kind: "resize-pane";
      readonly pane: PaneId;
      readonly cols?: PaneSize | undefined;
      readonly rows?: PaneSize | undefined;
      /** Moves a border by `cells`. */
      readonly direction?: Direction | undefined;
      readonly cells?: number | undefined;
      readonly zoom?: boolean | undefined;
    }
  /** The size is fixed (`window-size manual`) until `automatic` makes it follow the terminals that show the window again. */
  | {
      readonly kind: "resize-window";
      readonly window: WindowId;
      readonly cols?: number | undefined;
      readonly rows?: number | undefined;
      readonly automatic?: boolean | undefined;
    }
  /** A name of `NAMED_LAYOUTS`, a layout string of tmux, or `spread`: the panes beside this one get the same size. */
  | { readonly kind: "select-layout"; readonly window: WindowId; readonly layout: string }
  /** Replaces the pane with a new one. */
  | ({ readonly kind: "respawn-pane"; readonly pane: PaneId } & NewPaneProgram)
  | { readonly kind: "clear-history"; readonly pane: PaneId }
  /** An option of `layoutOptions.ts`; null unsets the window's or pane's own value. */
  | {
      readonly kind: "set-window-option";
      readonly window: WindowId;
      readonly option: string;
      readonly value: string | null;
    }
  | { readonly kind: "set-pane-option"; readonly pane: PaneId; readonly option: string; readonly value: string | null };

/** The pane or window that the operation created, moved or changed. */
export interface LayoutResult {
  readonly session?: SessionId | undefined;
  readonly window?: WindowId | undefined;
  readonly pane?: PaneId | undefined;
}

export interface WindowLayout {
  /** From memory. */
  tree(): ServerTree;
  /** Calls the listener with the differences after each change of the inventory, never with none. */
  watch(listener: (events: readonly TreeEvent[]) => void): () => void;
  /**
   * Resolves when the tree shows the change.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, ALREADY_EXISTS, INCONSISTENT_STATE (there is no room, a layout does not
   * fit), RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST
   */
  run(operation: LayoutOperation): Promise<LayoutResult>;
}
