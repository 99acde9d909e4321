/** The objects that every route of the native API uses. */
import type { Context } from "hono";
import type { Log } from "../../daemon/ops/log.ts";
import type { Feeds } from "../../daemon/panes/feeds.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { GuardEnv } from "../kit/guard/requestGuard.ts";
import type { RemoteHosts } from "../remote/remoteHosts.ts";
import type { OperationContext } from "../operations/operation.ts";
import type { NativeRestarting } from "../../protocol/api/native/nativeRestart.ts";
import type { ProgramAsked } from "../serving/restart.ts";
import type { Channels } from "./channels.ts";
import type { NativeMetrics } from "./nativeMetrics.ts";
import type { ServerEvents } from "../kit/streams/serverEvents.ts";

/** The part of the wait manager that the native API uses. */
export type NativeWaits = Pick<WaitManager, "wait" | "sendAndWait" | "metrics">;

export interface StreamBounds {
  readonly stallMs: number;
  readonly bufferBytes: number;
}

export interface NativeContext extends OperationContext {
  readonly remote: RemoteHosts | undefined;
  readonly log: Log;
  readonly metrics: NativeMetrics;
  readonly channels: Channels;
  readonly feedsOf: (server: TmuxServer) => Feeds;
  readonly eventsOf: (server: TmuxServer) => ServerEvents;
  readonly bounds: StreamBounds;
  /** Servers that nobody has configured: they do not count for `/readyz`. */
  readonly unconfigured: ReadonlySet<string>;
  /** Another daemon takes this one's place (`adapters/serving/restart.ts`). */
  readonly restart: ((program: ProgramAsked, drainMs: number) => Promise<NativeRestarting>) | undefined;
  /** Functions that end the open streams when the application closes. */
  readonly open: Set<() => void>;
}

export type NativeHandlerContext = Context<GuardEnv>;
