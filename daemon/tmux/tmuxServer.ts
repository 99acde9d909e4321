/**
 * The interface that adapters program against, by capability: `inventory`, input and captures (`io`), windows and panes
 * (`layout`), user options of panes (`userOptions`). A real tmux, ours or the user's (`RealServer`), and the in-memory stub
 * implement it and pass the same contract tests. Methods that call tmux return promises; everything else is served from
 * memory. Targets are ids; only exact names are resolved here (docs/tmuxFacts.md 24).
 */
import type { PaneId } from "../../protocol/ids.ts";
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { ServerInventory } from "./inventory.ts";
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
import type { WindowLayout } from "./layout.ts";
import type { OutputOptions, OutputSource } from "./outputSource.ts";
import type { PaneForeground, ProcessMark } from "./processes.ts";
import type { PaneUserOptions } from "./userOptions.ts";

export interface TmuxServer extends ServerInventory, PaneIo, PaneUserOptions, AsyncDisposable {
  /** Windows and panes, their changes, and the operations on them. */
  readonly layout: WindowLayout;
  /** The processes of the host that tmux runs on. */
  readonly processes: HostProcesses;
  close(): Promise<void>;
}

/** Input to one pane, and captures of it. */
interface PaneIo {
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
  /** The processes that currently read the pane's input, asked of tmux and the host. @throws AppError NOT_FOUND, CONNECTION_LOST */
  foreground(pane: PaneId, options?: ForegroundOptions): Promise<PaneForeground>;
  /**
   * The program that was started in the pane: its own process, or the one behind the shell that preserves the end of its
   * output (`CreateSession.direct`). Undefined before it has started, once it is gone, and if the host does not know.
   */
  programIn(pane: PaneId): Promise<ProcessMark | undefined>;
  /** Sets the size of the pane's window. @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST; INVALID_ARGUMENT on a guest */
  resize(pane: PaneId, cols: number, rows: number): Promise<void>;
  /** @throws AppError NOT_FOUND */
  output(pane: PaneId, options?: OutputOptions): OutputSource;
}
