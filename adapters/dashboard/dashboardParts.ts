/** What the dashboard is given, and what it makes of that: every route gets all of it. */
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { Database } from "../../daemon/ops/sql/sqlite.ts";
import type { Feeds } from "../../daemon/panes/feeds.ts";
import type { AgentNotifier } from "../agents/notify/agentNotifier.ts";
import type { AgentDirectory } from "../agents/running/agentDirectory.ts";
import type { GuardOptions } from "../kit/guard/requestGuard.ts";
import type { EventResponseOptions } from "../kit/streams/eventResponse.ts";
import type { OtherMachines } from "../kit/streams/otherMachines.ts";
import type { OperationContext } from "../operations/operation.ts";
import type { AgentBook } from "./agents/agentBook.ts";
import type { AgentDesk } from "./agents/agentDesk.ts";
import type { DashboardConfig } from "./dashboardConfig.ts";
import type { DashboardEvents } from "./events/dashboardEvents.ts";
import type { PaneLinks, PaneLinksOptions } from "./panes/paneLinks.ts";
import type { DashboardStore } from "./store/store.ts";

export interface DashboardOptions extends Omit<PaneLinksOptions, "book" | "desk"> {
  readonly delivery: Delivery;
  readonly settings: Pick<DashboardConfig, "hooksEnabled" | "registersProjects" | "clearFirst" | "gapMs">;
  /** The daemon's. */
  readonly running: Pick<AgentDirectory, "reported" | "onCheck" | "agents" | "subscribe" | "screens">;
  /** What the page asks of the daemon besides the contract, on this server alone. */
  readonly operations: OperationContext;
  /** The other machines, if they are served. */
  readonly machines: () => OtherMachines | undefined;
  /** The daemon's. */
  readonly notifier: AgentNotifier;
  /** Opened with `MIGRATIONS`; closed by `close`. */
  readonly database: Database;
  /** Where the built page is. */
  readonly pageDirectory: string;
  /** Absent: everyone whom `users` allows has full access. */
  readonly token?: string | undefined;
  /** Which users of this machine are allowed; absent: all, or those with the token. */
  readonly users?: GuardOptions["users"];
  readonly hosts: ReadonlySet<string>;
  /** Includes the page's own, which are known once there is a port. */
  readonly origins: ReadonlySet<string>;
  readonly streamBounds?: Pick<EventResponseOptions, "stallMs" | "bufferBytes"> | undefined;
}

export interface DashboardParts extends DashboardOptions {
  readonly store: DashboardStore;
  readonly book: AgentBook;
  readonly events: DashboardEvents;
  readonly desk: AgentDesk;
  readonly panes: PaneLinks;
  readonly feeds: Feeds;
  /** `open`: what ends the open streams when the application closes. */
  readonly streams: Pick<EventResponseOptions, "clock" | "open" | "stallMs" | "bufferBytes">;
  /** A subscriber has thrown. */
  readonly onError: (error: unknown) => void;
}
