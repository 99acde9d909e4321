/** The pane whose output a wait reads: predicates ask its server for what the output does not show. */
import type { PaneId } from "../../protocol/ids.ts";
import type { ReadinessWatcher } from "../readiness/readiness.ts";
import type { TmuxServer } from "../tmux/tmuxServer.ts";

export interface WaitPane {
  readonly server: TmuxServer;
  readonly id: PaneId;
  /** Absent: readiness is not reported. */
  readonly readiness: ReadinessWatcher | undefined;
}
