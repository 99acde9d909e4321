/**
 * Windows and panes as a tmux server has them, what changes in them, and what can be done to them: types only.
 * Everything is addressed by id. An operation is named after its tmux command, and does the same.
 */
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

/** What changes together when panes are moved, split, resized or zoomed. */
export interface WindowShape {
  readonly cols: number;
  readonly rows: number;
  /** As tmux writes it; empty where there is none (the stub). */
  readonly layout: string;
  /** The same as a tree; null for what we cannot parse, such as a later tmux's. */
  readonly root: LayoutCell | null;
  /** The active pane covers the window; the layout is the one behind it. */
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

/** All that is needed to draw a server. Sessions by name, windows and panes by id. */
export interface ServerTree {
  readonly sessions: readonly TreeSession[];
  readonly windows: readonly TreeWindow[];
  readonly panes: readonly TreePane[];
}

/**
 * One difference between two trees. Those of one listing are ordered so that nothing is named before it is created or
 * after it is gone; applied to the old tree they give the new one (`applyTreeEvent`).
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
  /** Another program runs in it. */
  | { readonly type: "pane-respawned"; readonly pane: PaneId; readonly pid: number }
  | { readonly type: "session-created"; readonly session: TreeSession }
  | { readonly type: "session-renamed"; readonly session: SessionId; readonly name: string }
  /** Windows came, went or changed their index. */
  | { readonly type: "session-windows-changed"; readonly session: SessionId; readonly windows: readonly WindowPlace[] }
  | { readonly type: "session-window-changed"; readonly session: SessionId; readonly window: WindowId | null }
  | { readonly type: "session-closed"; readonly session: SessionId }
  | { readonly type: "pane-closed"; readonly pane: PaneId }
  | { readonly type: "window-closed"; readonly window: WindowId };

/** What runs in a new pane: the user's shell when there is no command. */
export interface PaneProgram {
  /** argv. */
  readonly command?: readonly string[] | undefined;
  /** Absolute; taken literally. */
  readonly cwd?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** A share of the split space: cells, or a percentage such as `30%`. */
export type PaneSize = number | `${number}%`;

/** Where a new or moved pane goes. */
interface PanePlace {
  /** `vertical` (tmux's default) puts it below, `horizontal` beside. */
  readonly direction?: "vertical" | "horizontal" | undefined;
  readonly size?: PaneSize | undefined;
  /** Above, or to the left. */
  readonly before?: boolean | undefined;
  /** As wide or high as the window. */
  readonly full?: boolean | undefined;
  /** The active pane or window stays active. */
  readonly detached?: boolean | undefined;
}

type Direction = "up" | "down" | "left" | "right";

export const NAMED_LAYOUTS = ["even-horizontal", "even-vertical", "main-horizontal", "main-vertical", "tiled"] as const;

export type LayoutOperation =
  | ({
      readonly kind: "new-window";
      readonly session: SessionId;
      readonly name?: string | undefined;
      /** In the same session: the new one comes right after it. */
      readonly after?: WindowId | undefined;
      readonly detached?: boolean | undefined;
    } & PaneProgram)
  | ({ readonly kind: "split-window"; readonly pane: PaneId } & PanePlace & PaneProgram)
  | { readonly kind: "kill-pane"; readonly pane: PaneId }
  | { readonly kind: "kill-window"; readonly window: WindowId }
  | { readonly kind: "rename-window"; readonly window: WindowId; readonly name: string }
  | { readonly kind: "rename-session"; readonly session: SessionId; readonly name: string }
  /** With a direction: its neighbour. */
  | { readonly kind: "select-pane"; readonly pane: PaneId; readonly direction?: Direction | undefined }
  /** Without a session: in every one that has the window. */
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
      /** Default: the session that it is in. */
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
  /** The size stays (`window-size manual`) until `automatic` returns it to the terminals that show the window. */
  | {
      readonly kind: "resize-window";
      readonly window: WindowId;
      readonly cols?: number | undefined;
      readonly rows?: number | undefined;
      readonly automatic?: boolean | undefined;
    }
  /** A name of `NAMED_LAYOUTS`, a layout as tmux writes it, or `spread`: the panes beside this one get the same size. */
  | { readonly kind: "select-layout"; readonly window: WindowId; readonly layout: string }
  /** A new pane in the old one's place. */
  | ({ readonly kind: "respawn-pane"; readonly pane: PaneId } & PaneProgram)
  | { readonly kind: "clear-history"; readonly pane: PaneId }
  /** An option of `layoutOptions.ts`; null unsets the window's or pane's own value. */
  | {
      readonly kind: "set-window-option";
      readonly window: WindowId;
      readonly option: string;
      readonly value: string | null;
    }
  | { readonly kind: "set-pane-option"; readonly pane: PaneId; readonly option: string; readonly value: string | null };

/** Where the pane or window that the operation created, moved or changed is now. */
export interface LayoutResult {
  readonly session?: SessionId | undefined;
  readonly window?: WindowId | undefined;
  readonly pane?: PaneId | undefined;
}

export interface WindowLayout {
  /** From memory. */
  tree(): ServerTree;
  /** Called after each change that the inventory learns of, with the differences; never with none. */
  watch(listener: (events: readonly TreeEvent[]) => void): () => void;
  /**
   * Resolves when the tree shows what was done.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, ALREADY_EXISTS, INCONSISTENT_STATE (there is no room, a layout does not
   * fit), RESOURCE_LIMIT, TMUX_COMMAND_FAILED, CONNECTION_LOST
   */
  run(operation: LayoutOperation): Promise<LayoutResult>;
}
