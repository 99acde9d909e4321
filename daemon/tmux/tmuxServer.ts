/**
 * The interface adapters program against, by capability: what there is (`inventory`), what goes in and out (`paneIo`),
 * windows and panes (`layout`), user options of panes (`userOptions`). A real tmux, ours or the user's (`RealServer`),
 * and the in-memory stub implement it and pass the same contract tests. Methods that reach tmux are promises;
 * everything else is served from memory. Targets are ids; names are resolved here, exactly (docs/tmuxFacts.md 24).
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
  /** Windows and panes as they are, what changes in them, and what can be done to them. */
  readonly layout: WindowLayout;
  /** Of the host that tmux runs on. */
  readonly processes: HostProcesses;
  close(): Promise<void>;
}

/** What can be asked of one pane: to take input, and what it shows. */
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
  /** Who reads what is typed, asked of tmux and the host now. @throws AppError NOT_FOUND, CONNECTION_LOST */
  foreground(pane: PaneId, options?: ForegroundOptions): Promise<PaneForeground>;
  /**
   * The program that was started in the pane: its own process, or the one behind the shell that keeps the last of its
   * output (`CreateSession.direct`). Undefined while it has not begun, once it is gone, and where the host does not know.
   */
  programIn(pane: PaneId): Promise<ProcessMark | undefined>;
  /** Sets the size of the pane's window. @throws AppError NOT_FOUND, INVALID_ARGUMENT, CONNECTION_LOST; INVALID_ARGUMENT on a guest */
  resize(pane: PaneId, cols: number, rows: number): Promise<void>;
  /** @throws AppError NOT_FOUND */
  output(pane: PaneId, options?: OutputOptions): OutputSource;
}
