/** What a predicate may ask of the pane whose output a wait reads, besides that output. */
import type { PaneId } from "../../protocol/ids.ts";
import type { PaneReadiness, ReadinessWatcher } from "../readiness/readiness.ts";
import type { TmuxServer } from "../server/tmuxServer.ts";
import type { ScreenView } from "./screenView.ts";

export interface WaitPane extends ScreenView {
  /** Absent: nobody tells what its program is doing. @throws AppError NOT_FOUND, CONNECTION_LOST */
  readonly readiness: (() => PaneReadiness) | undefined;
}

export const waitPane = (server: TmuxServer, pane: PaneId, readiness: ReadinessWatcher | undefined): WaitPane => ({
  capture: (options) => server.capture(pane, options),
  readiness: readiness === undefined ? undefined : () => readiness.watch(server, pane),
});
