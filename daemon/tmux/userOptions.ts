/** User options of single panes, which outlive the daemon. */
import type { PaneId } from "../../protocol/ids.ts";

export interface PaneUserOptions {
  /**
   * Stores a value on the pane itself, `undefined` removes it: it outlives this daemon and goes with the pane. Any text
   * of at most `MAX_USER_OPTION_CHARS` comes back exactly; `name` is a lower-case word.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST
   */
  setPaneUserOption(pane: PaneId, name: string, value: string | undefined): Promise<void>;
  /** Every pane that has this option, asked of tmux now. @throws AppError INVALID_ARGUMENT, CONNECTION_LOST */
  paneUserOptions(name: string): Promise<ReadonlyMap<PaneId, string>>;
}
