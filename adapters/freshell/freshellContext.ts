/** What the parts of the Freshell adapter share. */
import type { Feeds } from "../../daemon/panes/feeds.ts";
import type { Log } from "../../daemon/ops/log.ts";
import type { Once } from "../../daemon/ops/once.ts";
import type { Session, SessionBook } from "./sessions/sessionBook.ts";
import type { Clock } from "../../daemon/time/clock.ts";
import type { TmuxServer } from "../../daemon/tmux/tmuxServer.ts";
import type { WaitManager } from "../../daemon/waits/waitManager.ts";
import type { FreshellConfig } from "./freshellConfig.ts";
import type { FrameShare } from "./socket/outputFrames.ts";
import type { Terminal } from "./terminals/terminal.ts";
import type { TerminalBook } from "./terminals/terminalBook.ts";
import type { LayoutPlane } from "./relay/layoutPlane.ts";
import type { Credentials } from "./tokens/credentials.ts";

type FreshellSettings = Pick<
  FreshellConfig,
  "maxConnections" | "helloTimeoutMs" | "presenceTtlMs" | "rpcAckTimeoutMs" | "ownerTimeoutMs" | "maxAttachChunkBytes"
>;

export interface FreshellContext {
  readonly server: TmuxServer;
  readonly book: TerminalBook;
  readonly feeds: Feeds;
  readonly frames: FrameShare;
  /** This adapter's share. */
  readonly waits: Pick<WaitManager, "wait">;
  readonly credentials: Credentials;
  readonly layout: LayoutPlane;
  /**
   * Creates by device and requestId: a page that lost its connection does not know whether its terminal or session was
   * made. The id alone counts, whatever else the request says.
   */
  readonly creates: Once<Terminal>;
  readonly sessions: SessionBook;
  readonly sessionCreates: Once<Session>;
  readonly settings: FreshellSettings;
  readonly version: string;
  /** Of this start of the daemon. */
  readonly instanceId: string;
  readonly clock: Clock;
  readonly nowUnixMs: () => number;
  readonly log: Log;
}
