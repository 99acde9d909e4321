/** What can be asked of one pane: to take input, and what it shows. */
import type { PaneId } from "../../protocol/ids.ts";
import type {
  Capture,
  CaptureOptions,
  ForegroundOptions,
  InputOptions,
  InputPart,
  InputReceipt,
  PaneDetails,
  Snapshot,
  SnapshotOptions,
} from "./io.ts";
import type { OutputSource } from "./outputSource.ts";
import type { PaneForeground } from "./processes.ts";

export interface PaneIo {
  /**
   * One atomic job in the pane's FIFO.
   * @throws AppError NOT_FOUND, INVALID_ARGUMENT, INCONSISTENT_STATE (`onlyIf`), RESOURCE_LIMIT, CONNECTION_LOST
   */
  input(pane: PaneId, parts: readonly InputPart[], options?: InputOptions): Promise<InputReceipt>;
  capture(pane: PaneId, options?: CaptureOptions): Promise<Capture>;
  /** @throws AppError NOT_FOUND, RESOURCE_LIMIT, CONNECTION_LOST */
  snapshot(pane: PaneId, options?: SnapshotOptions): Promise<Snapshot>;
  /** @throws AppError NOT_FOUND, CONNECTION_LOST */
  describePane(pane: PaneId): Promise<PaneDetails>;
  /** Who reads what is typed, asked of tmux and the host now. @throws AppError NOT_FOUND, CONNECTION_LOST */
  foreground(pane: PaneId, options?: ForegroundOptions): Promise<PaneForeground>;
  /** Sets the size of the pane's window. @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST; INVALID_ARGUMENT on a guest */
  resize(pane: PaneId, cols: number, rows: number): Promise<void>;
  /** @throws AppError NOT_FOUND */
  output(pane: PaneId): OutputSource;
}
