/** What every route of the dashboard works with. */
import type { Log } from "../../daemon/ops/log.ts";
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { Feeds } from "../../daemon/panes/feeds.ts";
import type { RecordingBook } from "../../daemon/recordings/recordingBook.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { AgentBook } from "./agents/agentBook.ts";
import type { AgentDesk } from "./agents/agentDesk.ts";
import type { DashboardEvents } from "./events/dashboardEvents.ts";
import type { HookStats } from "./hooks/hookStats.ts";
import type { PaneLinks } from "./panes/paneLinks.ts";
import type { PaneListing } from "./panes/panePlace.ts";
import type { AnswerKeys } from "./respond/answerKeys.ts";
import type { DashboardStore } from "./store/store.ts";

interface DashboardSettings {
  readonly hooksEnabled: boolean;
  /** A hook from a live pane in an unregistered directory makes it a project. */
  readonly registersProjects: boolean;
  /** Empties the prompt box before an answer; never while a dialog is open. */
  readonly clearFirst: boolean;
  /** Least time between an answer's text and Enter, instead of the program's own. */
  readonly gapMs: number | undefined;
}

export interface DashboardContext {
  /** The tmux server of the agents' panes. */
  readonly server: TmuxServer;
  readonly delivery: Delivery;
  readonly recordings: RecordingBook | undefined;
  /** Told what hooks say. */
  readonly running: Pick<AgentDirectory, "reported"> | undefined;
  readonly feeds: Feeds;
  readonly store: DashboardStore;
  readonly book: AgentBook;
  readonly desk: AgentDesk;
  readonly panes: PaneLinks;
  readonly paneListing: PaneListing;
  readonly events: DashboardEvents;
  readonly hookStats: HookStats;
  readonly answers: AnswerKeys;
  readonly settings: DashboardSettings;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
  /** Functions that end the open streams when the application closes. */
  readonly open: Set<() => void>;
  readonly streamBounds: { readonly stallMs?: number; readonly bufferBytes?: number };
}
