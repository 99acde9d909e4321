/** What every route of the native API works with. */
import type { Context } from "hono";
import type { Delivery } from "../../daemon/delivery/delivery.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { Feeds } from "../../daemon/panes/feeds.ts";
import type { ReadinessWatcher } from "../../daemon/readiness/readiness.ts";
import type { TmuxServer } from "../../daemon/server/tmuxServer.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { PaneId } from "../../protocol/ids.ts";
import type { GuardEnv } from "../http/guard.ts";
import type { Channels } from "./channels.ts";
import type { NativeMetrics } from "./nativeMetrics.ts";
import type { ServerEvents } from "./serverEvents.ts";

/** What the native API needs of the wait manager. */
export type NativeWaits = Pick<WaitManager, "wait" | "sendAndWait" | "metrics">;

export interface StreamBounds {
  readonly stallMs: number;
  readonly bufferBytes: number;
}

export interface NativeContext {
  readonly servers: ReadonlyMap<string, TmuxServer>;
  readonly waits: NativeWaits;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: NativeMetrics;
  readonly channels: Channels;
  readonly feedsOf: (server: TmuxServer) => Feeds;
  readonly eventsOf: (server: TmuxServer) => ServerEvents;
  /** Panes in which `run` is at work, each by its server. */
  readonly running: WeakMap<TmuxServer, Set<PaneId>>;
  readonly readiness: ReadinessWatcher | undefined;
  readonly delivery: Delivery | undefined;
  readonly bounds: StreamBounds;
  /** Streams under way: called when the application closes. */
  readonly open: Set<() => void>;
}

export type NativeHandlerContext = Context<GuardEnv>;
