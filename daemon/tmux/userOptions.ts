/** User options of single panes, which outlive the daemon. */
import type { PaneId } from "../../protocol/ids.ts";

export interface PaneUserOptions {
  /**
   * Stores a value on the pane itself, so that it outlives this daemon and ends with the pane; `undefined` removes it. Any
   * text of at most `MAX_USER_OPTION_CHARS` is preserved exactly; `name` is a lower-case word.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST
   */
  setPaneUserOption(pane: PaneId, name: string, value: string | undefined): Promise<void>;
  /** All panes that have this option, asked of tmux now. @throws AppError INVALID_ARGUMENT, CONNECTION_LOST */
  paneUserOptions(name: string): Promise<ReadonlyMap<PaneId, string>>;
}
