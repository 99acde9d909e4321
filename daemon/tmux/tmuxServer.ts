/**
 * The interface adapters program against, by capability: what there is (`inventory`), what goes in and out (`paneIo`),
 * windows and panes (`layout`), user options of panes (`userOptions`). A real tmux, ours or the user's (`RealServer`),
 * and the in-memory stub implement it and pass the same contract tests. Methods that reach tmux are promises;
 * everything else is served from memory. Targets are ids; names are resolved here, exactly (docs/tmuxFacts.md 24).
 */
import type { HostProcesses } from "../host/hostProcesses.ts";
import type { ServerInventory } from "./inventory.ts";
import type { WindowLayout } from "./layout.ts";
import type { PaneIo } from "./paneIo.ts";
import type { PaneUserOptions } from "./userOptions.ts";

export interface TmuxServer extends ServerInventory, PaneIo, PaneUserOptions, AsyncDisposable {
  /** Windows and panes as they are, what changes in them, and what can be done to them. */
  readonly layout: WindowLayout;
  /** Of the host that tmux runs on. */
  readonly processes: HostProcesses;
  close(): Promise<void>;
}
