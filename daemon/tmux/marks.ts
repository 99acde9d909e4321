/** Notes on panes themselves, which outlive the daemon. */
import type { PaneId } from "../../protocol/ids.ts";

export interface PaneMarks {
  /**
   * Notes a value on the pane itself, `undefined` takes it away: it outlives this daemon and goes with the pane. Any text
   * of at most `MAX_PANE_MARK_CHARS` comes back exactly; `name` is a lower-case word.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST
   */
  setPaneMark(pane: PaneId, name: string, value: string | undefined): Promise<void>;
  /** Every pane that carries this mark, asked of tmux. @throws AppError INVALID_ARGUMENT, CONNECTION_LOST */
  paneMarks(name: string): Promise<ReadonlyMap<PaneId, string>>;
}
